"""What a homeserver says of an account: where it is, whether the password fits, whether it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import aiohttp

from agent.hookspecs import Health
from bridges.matrix.client import CLIENT, NETWORK, Client, MatrixError
from bridges.matrix.rules.values import table, text

if TYPE_CHECKING:
    from bridges.matrix.settings import MatrixSettings

_NAME: Final = "bridge matrix"
_SECONDS: Final = 15.0


class Unreachable(Exception):
    """The homeserver did not answer as one; the text says how."""


class Refused(Exception):
    """The homeserver does not take the account or its password; the text says why."""


async def homeserver_of(server_name: str) -> str:
    """Return where the homeserver of a name answers, as the name's own site tells; by default there itself."""
    default = f"https://{server_name}"
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"{default}/.well-known/matrix/client") as answer,
        ):
            if answer.status != 200:  # noqa: PLR2004 - HTTP's own number
                return default
            told = table(await answer.json(content_type=None))
    except NETWORK:
        return default
    except ValueError:
        return default
    found = text(table(told.get("m.homeserver")).get("base_url")).rstrip("/")
    return found if found.startswith(("https://", "http://")) else default


async def check_password(homeserver: str, user_id: str, password: str) -> None:
    """Log in and out again.

    Raises:
        Refused: it does not take the account or the password.
        Unreachable: it did not answer as a homeserver.
    """
    client = Client(homeserver, user_id)
    identifier = {"type": "m.id.user", "user": user_id}
    body = {"type": "m.login.password", "identifier": identifier, "password": password}
    try:
        answer = await client.call("POST", f"{CLIENT}/login", body, deadline=_SECONDS)
        if answer.get("user_id") != user_id:
            raise Refused(f"it logged {answer.get('user_id')} in")
        client.use(text(answer.get("access_token")), text(answer.get("device_id")))
        await client.call("POST", f"{CLIENT}/logout", {}, deadline=_SECONDS)
    except MatrixError as error:
        if error.status in {401, 403, 400}:
            raise Refused(str(error)) from None
        raise Unreachable(f"{homeserver} does not answer as a homeserver ({error})") from None
    except NETWORK as error:
        raise Unreachable(f"{homeserver} cannot be reached ({type(error).__name__})") from None
    finally:
        await client.close()


async def health(settings: MatrixSettings) -> Sequence[Health]:
    """Return one line: whether the homeserver answers, and takes the access token where one is set."""
    client = Client(settings.homeserver, settings.user)
    try:
        versions = await client.call("GET", "/_matrix/client/versions", deadline=_SECONDS)
        if settings.access_token is not None:
            client.use(settings.access_token.resolve().get_secret_value(), "")
            await client.call("GET", f"{CLIENT}/account/whoami", deadline=_SECONDS)
    except MatrixError as error:
        if error.ends_session and settings.password is not None:
            return [Health(_NAME, "ok", f"{settings.user}: the access token has ended, and the password begins anew")]
        remedy = "give a new access_token or the password in [bridges.matrix], or run isthmus setup matrix"
        return [Health(_NAME, "fail", f"{settings.homeserver} answers {error}", remedy)]
    except NETWORK as error:
        text_of = f"{settings.homeserver} cannot be reached ({type(error).__name__})"
        return [Health(_NAME, "fail", text_of, "check the network, or homeserver in [bridges.matrix]")]
    finally:
        await client.close()
    if not versions.get("versions"):
        text_of = f"{settings.homeserver} does not answer as a homeserver"
        return [Health(_NAME, "fail", text_of, "check homeserver in [bridges.matrix]")]
    return [Health(_NAME, "ok", f"{settings.user} at {settings.homeserver}"), *_invitations(settings)]


def _invitations(settings: MatrixSettings) -> Sequence[Health]:
    policy = settings.invitations
    if policy.everybody or policy.servers or policy.people or policy.rooms:
        return ()
    remedy = 'name people, servers or rooms in [bridges.matrix.invitations], as in people = ["@ana:example.org"]'
    return (Health(_NAME, "warn", "it accepts no invitation, so nobody can let it into a room", remedy),)
