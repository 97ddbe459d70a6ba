from dataclasses import replace

import pytest

from agent.contracts.memory import MemoryScope
from agent.contracts.people import DEFAULT_LINEAGE, GLOBAL_LINEAGE
from agent.places import Audience
from plugins.memory.transfer.entries import Entry, LineageKind, LineageRef, Person, Spot
from plugins.memory.transfer.planning import UNDATED, Fault, Known, Target, lineage_of, plan
from plugins.memory.transfer.repository import KnownAccount
from tests.plugins.memory.world import DAY, NOW

SERVER, PERSONAL = MemoryScope.SERVER, MemoryScope.PERSONAL
ANA = Person("console:ana", "console", "Ana")
TARGET = Target(
    platform="console",
    server_id=1,
    takes_server=True,
    user_id=5,
    own=frozenset({("console", "console:ana")}),
    lineage_id=4,
    forced=False,
    personas=(("Isthmus", 1), ("Fern", 4), ("Moss", 6), ("moss", 7)),
    others=(("Bark", 9),),
)
NOBODY = Known({}, {})


def named(*names: str) -> LineageRef:
    return LineageRef(LineageKind.NAMED, "lineage-3", names)


def test_where_a_lineage_goes() -> None:
    default = LineageRef(LineageKind.DEFAULT, "default", ("Fern",))
    assert lineage_of(LineageRef(), SERVER, TARGET) == 4
    assert lineage_of(LineageRef(LineageKind.GLOBAL), PERSONAL, replace(TARGET, forced=True)) == GLOBAL_LINEAGE
    assert lineage_of(default, SERVER, TARGET) == DEFAULT_LINEAGE
    assert lineage_of(default, SERVER, replace(TARGET, personas=(("Fern", 4),))) == 4
    assert lineage_of(named("gone", "FERN"), SERVER, TARGET) == 4
    assert lineage_of(named("Moss"), SERVER, replace(TARGET, forced=True)) == 4
    assert lineage_of(named("bark"), PERSONAL, TARGET) == 9
    with pytest.raises(Fault, match="'Moss' are several here"):
        lineage_of(named("Moss"), SERVER, TARGET)
    with pytest.raises(Fault, match="'bark' is none here; choose with persona one of 'Isthmus', 'Fern', 'Moss'"):
        lineage_of(named("bark"), SERVER, TARGET)
    with pytest.raises(Fault, match="of 'lineage-3', which has no name, is none here"):
        lineage_of(named(), SERVER, TARGET)


def test_what_comes_from_the_future_is_of_now_and_what_has_no_date_is_of_no_time() -> None:
    entry = Entry(1, "x", SERVER, "text", created_at=NOW + DAY)
    future, undated = (plan(each, TARGET, NOBODY, 1000, NOW) for each in (entry, replace(entry, created_at=None)))
    assert future.write is not None
    assert undated.write is not None
    assert future.write.source.occurred_at == NOW
    assert undated.write.source.occurred_at == UNDATED


def test_two_people_of_one_id_are_nobody() -> None:
    accounts = [KnownAccount(number, None, "console", "console:ana", "Ana") for number in (1, 2)]
    entry = Entry(1, "x", SERVER, "text", person=Person("console:ana"))
    for found, said in ((accounts, "several people have the id"), ([], "who has not been seen here")):
        planned = plan(entry, TARGET, Known({Person("console:ana"): found}, {}), 1000, NOW)
        assert planned.write is None
        assert said in planned.reason
    one = plan(entry, TARGET, Known({Person("console:ana"): accounts[:1]}, {}), 1000, NOW)
    assert one.write is not None
    assert one.write.subject_account_id == 1


def test_a_personal_memory_for_one_server_needs_that_server() -> None:
    spot = Spot("console", "console:away", None)
    entry = Entry(1, "x", PERSONAL, "text", person=ANA, audience=Audience.SERVER, spot=spot)
    missing = plan(entry, TARGET, NOBODY, 1000, NOW)
    assert missing.reason == "it may be read in the server 'console:away' only, which has not been seen here"
    found = plan(entry, TARGET, Known({}, {("console", "console:away"): 8}), 1000, NOW)
    assert found.write is not None
    assert (found.write.source.server_id, found.write.user_id, found.write.subject_user_id) == (8, 5, 5)
