"""Casts of people for the resolver's specification, and results in a few words."""

from dataclasses import dataclass, replace

from agent.contracts.people import Account, Participant, Speaker
from agent.identity.directory import Directory, Entry, Scope
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import normalise
from agent.identity.results import Ambiguous, BridgeUser, NotFound, Resolution, Resolved, Self
from agent.identity.rules import resolve
from tests.agent.identity.builders import PERSONA, entry, scope


@dataclass(frozen=True)
class Cast:
    here: tuple[Account, ...]
    elsewhere: tuple[Account, ...] = ()
    """Members of the server who take no part."""
    more: tuple[tuple[int, str], ...] = ()
    """Further names, by account id."""
    speaker: bool = True
    affixes: tuple[str, ...] = ()
    gone: tuple[Account, ...] = ()
    """Who took part and is a member no longer."""
    renamed: tuple[Account, ...] = ()
    """As the server knows them now, of those whom the conversation still shows under another name."""
    proxied: tuple[tuple[Account, str, str], ...] = ()
    """Who is spoken for: the account that answers, the reference and the name."""

    @property
    def scope(self) -> Scope:
        where = scope(*self.here, *self.gone, speaker=self.speaker)
        others = tuple(
            Participant(
                normalise(name),
                name,
                host,
                Speaker(ParticipantKey(ParticipantKind.PROXY_IDENTITY, reference), host.account_id + 5000, name),
            )
            for host, reference, name in self.proxied
        )
        return replace(
            where,
            participants=(*where.participants, *others),
            persona=replace(PERSONA, affixes=self.affixes),
        )

    @property
    def entries(self) -> tuple[Entry, ...]:
        names: dict[int, list[str]] = {}
        for number, name in self.more:
            names.setdefault(number, []).append(name)
        renamed = {each.account_id: each for each in self.renamed}
        members = (*self.here, *self.elsewhere)
        return tuple(entry(renamed.get(each.account_id, each), *names.get(each.account_id, ())) for each in members)

    def resolve(self, name: str) -> Resolution:
        return resolve(name, self.scope, Directory(self.entries))


def short(result: Resolution) -> str:
    match result:
        case Resolved(account=found, step=step):
            return f"{found.account_id} {step}"
        case Self(step=step):
            return f"self {step}"
        case BridgeUser(account=found, bridge=bridge, step=step):
            return f"bridge {found.account_id} {step} {bridge or 'native'}"
        case Ambiguous(candidates=candidates):
            return "ambiguous " + ",".join(str(each.key.id) for each in candidates)
        case NotFound():
            return "not found"
