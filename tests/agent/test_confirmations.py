import asyncio
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agent.confirmations import ATTEMPTS, LENGTH, VALID, Answer, Confirmations, digest, make_code
from agent.identity.people import People
from agent.store.pool import Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, author


async def asked(store: Store, name: str = "ana") -> int:
    return (await People(store).enter(HOME, GENERAL, author(name), NOW)).account.account_id


@given(st.binary(min_size=LENGTH, max_size=LENGTH))
def test_codes_are_eight_letters_and_digits_however_they_are_typed(random: bytes) -> None:
    code = make_code(lambda length: random[:length])
    assert len(code) == LENGTH
    assert not set(code) & set("01IO")
    assert digest(f" {code[:3].lower()} {code[3:5]}-{code[5:]}\n") == digest(code)


@given(st.text())
def test_whatever_is_typed_is_compared(text: str) -> None:
    assert len(digest(text)) == 32


async def test_a_code_works_once(store: Store) -> None:
    account, confirmations = await asked(store), Confirmations(store)
    code = await confirmations.ask(account, "forget", NOW)
    assert await confirmations.answer(account, "unlink", code, NOW) is Answer.VOID
    assert await confirmations.answer(account, "forget", "no", NOW) is Answer.WRONG
    later = NOW + VALID - timedelta(microseconds=1)
    assert await confirmations.answer(account, "forget", code, later) is Answer.CONFIRMED
    assert await confirmations.answer(account, "forget", code, later) is Answer.VOID


async def test_of_many_at_once_one_is_right(store: Store) -> None:
    account, confirmations = await asked(store), Confirmations(store)
    code = await confirmations.ask(account, "forget", NOW)
    answers = await asyncio.gather(*(confirmations.answer(account, "forget", code, NOW) for _ in range(10)))
    assert answers.count(Answer.CONFIRMED) == 1
    assert answers.count(Answer.VOID) == 9


async def test_it_ends_with_its_time_and_with_too_many_wrong_codes(store: Store) -> None:
    account, confirmations = await asked(store), Confirmations(store)
    code = await confirmations.ask(account, "forget", NOW)
    assert await confirmations.answer(account, "forget", code, NOW + VALID) is Answer.VOID
    code = await confirmations.ask(account, "forget", NOW)
    answers = [await confirmations.answer(account, "forget", "no", NOW) for _ in range(ATTEMPTS)]
    assert answers == [Answer.WRONG] * (ATTEMPTS - 1) + [Answer.VOID]
    assert await confirmations.answer(account, "forget", code, NOW) is Answer.VOID


async def test_each_account_has_its_own_and_the_code_is_not_kept(store: Store) -> None:
    ana, ben = await asked(store), await asked(store, "ben")
    confirmations = Confirmations(store)
    code, other = await confirmations.ask(ana, "forget", NOW), await confirmations.ask(ben, "forget", NOW)
    assert await confirmations.answer(ben, "forget", code, NOW) is Answer.WRONG
    async with store.connection() as conn:
        rows = await conn.fetch("SELECT c::text AS text FROM confirmations c")
    assert all(code not in row["text"] and other not in row["text"] for row in rows)
    assert await Confirmations(store).answer(ana, "forget", code, NOW) is Answer.CONFIRMED
