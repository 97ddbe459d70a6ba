import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.people import PrivacyLevel
from agent.identity.names import folded, normalise
from agent.identity.people import People
from agent.places import ServerRef
from agent.privacy.hidden import NOBODY, HiddenNames
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.agent.privacy.conftest import Home


def hidden(*names: str) -> HiddenNames:
    return HiddenNames(map(normalise, names))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ana", "Ana likes tea"),
        ("Ana", "tea is what ANA likes"),
        ("Ana", "the cake was Ana's."),
        ("Ana", "ask @ana, or (ana)/ben"),
        ("Ana", "**ana**"),
        ("Ana", "Ａｎａ hosts"),
        ("Ana", "A\u200bna hosts"),
        ("Ana María", "with Ana  María on Friday"),
        ("Ana María", "with ana mari\u0301a on Friday"),
        ("ana.m", "ana.m hosts"),
        ("xX_ana_Xx", "it was xx_ana_xx"),
        ("Straße", "STRASSE hosts"),
        ("山田", "昨日山田さんが来た"),
        ("🌸🌸", "the server of 🌸🌸 is new"),
        ("Ян", "спроси у яна или Ян"),
    ],
)
def test_a_name_is_found_as_whole_words_in_any_form(name: str, text: str) -> None:
    assert hidden("Ben", name).named_in(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ana", "bananas and Anabel"),
        ("Ana", "an apple"),
        ("Ana María", "Ana and María"),
        ("ana.m", "ana hosts"),
        ("A", "A tea"),
        ("Ana", ""),
        ("Аna", "Ana likes tea"),  # the first letter is Cyrillic: another name
    ],
)
def test_other_words_name_nobody(name: str, text: str) -> None:
    assert not hidden(name).named_in(text)


def test_nobody_is_nobody() -> None:
    assert not NOBODY
    assert not hidden()
    assert not hidden("").named_in("a text")
    assert hidden("Ana")


def test_a_name_may_mean_somebody_else() -> None:
    names = hidden("Ana", "Ben")
    assert not names.without({"ana"}).named_in("Ana hosts")
    assert names.without({"ana"}).named_in("Ben hosts")
    assert names.without({"max"}) is names


@given(st.text(min_size=1), st.text(), st.text())
def test_whatever_stands_around_a_name_it_is_found(name: str, before: str, after: str) -> None:
    plain = normalise(name)
    if len(plain) >= 2:
        assert hidden(name).named_in(f"{before} {plain} {after}")


@given(st.text())
def test_texts_are_folded_as_names_are(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert normalise(folded(text)) == normalise(text)


async def test_who_hides_is_known_by_the_names_of_the_servers_that_matter(home: Home) -> None:
    people, elsewhere = People(home.store), ServerRef("console", "elsewhere", "Elsewhere")
    await people.enter(elsewhere, GENERAL, author("ana", "Anita"), NOW)
    cleo = (await people.enter(elsewhere, GENERAL, author("cleo", "Cleo"), NOW)).account
    await people.enter(HOME, GENERAL, author("ana", "Ana", "ana.m"), NOW)
    assert not await home.privacy.hidden_names(home.server_id, [home.ana.account_id])
    for account in (home.ben, cleo):
        await home.privacy.set_level(account.account_id, PrivacyLevel.FULL)
    found = await home.privacy.hidden_names(home.server_id)
    assert (found.here.named_in("ben"), found.around.named_in("ben cleo")) == (True, True)
    assert not found.around.named_in("cleo")
    found = await home.privacy.hidden_names(home.server_id, [home.ana.account_id])
    assert (found.here.named_in("cleo"), found.around.named_in("cleo")) == (False, True)
    assert not found.around.named_in("Ana Anita")
