from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.preferences import Layer, Preference, PreferenceError, Preferences, resolve

BOTH = frozenset({Layer.SERVER, Layer.PERSON})


def number(**changes: Any) -> Preference[int]:
    return Preference(**{"key": "memory.max", "default": 100, "description": "How many.", **changes})


@st.composite
def declared(draw: st.DrawFn) -> Preference[Any]:
    kind = draw(st.sampled_from([int, float, bool, str]))
    choices: tuple[str, ...] = ("low", "middle", "high") if kind is str else ()
    values: st.SearchStrategy[Any] = {
        int: st.integers(-50, 50),
        float: st.floats(-50, 50),
        bool: st.booleans(),
        str: st.sampled_from(choices or ("x",)),
    }[kind]
    bare: Preference[Any] = Preference("k", draw(values), "d", choices=choices)
    bounds = sorted((draw(values), draw(values)), key=bare.rank)
    floor, cap = draw(st.sampled_from([(None, None), (None, bounds[1]), (bounds[0], None), (bounds[0], bounds[1])]))
    plain: Preference[Any] = Preference("k", bounds[0], "d", cap=cap, floor=floor, choices=choices)
    return Preference(
        "k",
        plain.bounded(draw(values)),
        "d",
        cap=cap,
        floor=floor,
        choices=choices,
        layers=draw(st.sampled_from([frozenset[Layer](), frozenset({Layer.SERVER}), frozenset({Layer.PERSON}), BOTH])),
        nullable=draw(st.booleans()),
    )


_json = st.none() | st.booleans() | st.integers(-100, 100) | st.floats() | st.sampled_from(["low", "high", "x"])
_rows = st.dictionaries(st.just("k"), _json)


@given(declared(), _rows, _rows)
def test_nothing_goes_beyond_the_deployments_bounds(
    preference: Preference[Any], server: dict[str, Any], person: dict[str, Any]
) -> None:
    result = resolve(preference, server, person)
    if preference.cap is not None:
        assert preference.rank(result.value) <= preference.rank(preference.cap)
    if preference.floor is not None:
        assert preference.rank(result.value) >= preference.rank(preference.floor)
    assert type(result.value) in {type(preference.default), type(None)}
    assert result.value is not None or preference.nullable


@given(declared(), _rows, _rows)
def test_a_layer_counts_only_where_it_is_allowed(
    preference: Preference[Any], server: dict[str, Any], person: dict[str, Any]
) -> None:
    result = resolve(preference, server, person)
    assert result.layer is Layer.DEPLOYMENT or result.layer in preference.layers
    if Layer.PERSON not in preference.layers:
        assert result == resolve(preference, server, {})
    if Layer.SERVER not in preference.layers:
        assert result == resolve(preference, {}, person)


@given(declared(), _json)
def test_what_may_be_stored_is_what_is_in_force(preference: Preference[Any], value: Any) -> None:
    try:
        stored = preference.check(value)
    except PreferenceError:
        return
    for layer in preference.layers:
        rows = {"k": stored}
        result = resolve(preference, rows if layer is Layer.SERVER else {}, rows if layer is Layer.PERSON else {})
        assert (result.value, result.layer, result.limited) == (stored, layer, False)


def test_person_before_server_before_deployment() -> None:
    preference = number(layers=BOTH, cap=100)
    key = preference.key
    assert resolve(preference, {}, {}).value == 100
    assert resolve(preference, {key: 50}, {}).value == 50
    assert resolve(preference, {key: 50}, {key: 70}).value == 70
    lowered = resolve(preference, {key: 500}, {})
    assert (lowered.value, lowered.layer, lowered.limited) == (100, Layer.SERVER, True)


def test_a_value_that_does_not_fit_any_more_counts_as_not_there() -> None:
    preference = number(layers=BOTH)
    result = resolve(preference, {preference.key: 5}, {preference.key: "many"})
    assert (result.value, result.layer) == (5, Layer.SERVER)


def test_without_limit_is_above_every_cap() -> None:
    spend: Preference[float | None] = Preference("spend", None, "d", nullable=True, kind=float)
    assert resolve(spend, {"spend": None}, {}).value is None
    capped: Preference[float | None] = Preference("spend", 2.0, "d", nullable=True, cap=5.0)
    assert resolve(capped, {"spend": None}, {}).value == 5.0
    with pytest.raises(PreferenceError, match=r"at most 5\.0"):
        capped.read("none")


@pytest.mark.parametrize(
    ("preference", "text", "value"),
    [
        (number(), " 30 ", 30),
        (Preference("k", 1.5, "d"), "2", 2.0),
        (Preference("k", True, "d"), "off", False),
        (Preference("k", False, "d"), "YES", True),
        (Preference("k", "x", "d"), " 12 ", "12"),
        (Preference("k", ("x",), "d"), "a, b,,c ", ("a", "b", "c")),
        (Preference("k", (), "d"), "", ()),
        (Preference("k", 2.0, "d", nullable=True), "none", None),
    ],
)
def test_values_as_people_type_them(preference: Preference[Any], text: str, value: Any) -> None:
    read = preference.read(text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("preference", "value", "sentence"),
    [
        (number(), "x", "memory.max must be a whole number."),
        (number(), True, "memory.max must be a whole number."),
        (number(), 1.5, "memory.max must be a whole number."),
        (number(), 10**400, "memory.max must be a whole number."),
        (number(), None, "memory.max must be a whole number."),
        (number(cap=100), 101, "memory.max can be at most 100 here."),
        (number(floor=10), 9, "memory.max must be at least 10 here."),
        (Preference("k", 1.0, "d"), math.nan, "k must be a number."),
        (Preference("k", True, "d"), 1, "k is a switch: on or off."),
        (Preference("k", False, "d", cap=False), True, "k can be at most off here."),
        (Preference("k", "x", "d"), "a\0b", "k must be a text of at most 2000 characters."),
        (Preference("k", "x", "d"), "\ud800", "k must be a text of at most 2000 characters."),
        (Preference("k", "x", "d"), "x" * 2001, "k must be a text of at most 2000 characters."),
        (Preference("k", ("x",), "d"), ["a", 1], "k must be a short list, separated by commas."),
        (Preference("k", "low", "d", choices=("low", "high")), "hgih", "k must be one of: low, high."),
    ],
)
def test_values_that_are_refused(preference: Preference[Any], value: object, sentence: str) -> None:
    with pytest.raises(PreferenceError) as caught:
        preference.check(value)
    assert str(caught.value) == sentence


@given(st.text(max_size=40), declared())
def test_reading_gives_a_sound_value_or_one_sentence(text: str, preference: Preference[Any]) -> None:
    try:
        value = preference.read(text)
    except PreferenceError as error:
        value = None
        sentence = str(error)
    else:
        sentence = "k "
        assert preference.bounded(value) == value
    assert sentence.startswith("k ")


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5_000, "", "NaN", "Infinity", "0x1"])
def test_hostile_numbers(text: str) -> None:
    for preference in (number(), Preference("k", 1.0, "d")):
        with pytest.raises(PreferenceError):
            preference.read(text)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"default": 5, "cap": 4}, "beyond its own bounds"),
        ({"default": 5, "cap": 6, "floor": 7}, "is above its cap"),
        ({"default": "x", "cap": "y"}, "only numbers"),
        ({"default": None, "nullable": True}, "name its kind"),
    ],
)
def test_declarations_that_contradict_themselves(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        number(**changes)


def test_the_registry() -> None:
    preferences = Preferences()
    preferences.register(number())
    preferences.register(Preference("a.b", True, "d"))
    with pytest.raises(ValueError, match="registered twice"):
        preferences.register(number())
    assert [preference.key for preference in preferences] == ["a.b", "memory.max"]
    assert preferences.get("a.b").default is True
    with pytest.raises(PreferenceError, match=r"There is no setting memory\.mx\. Did you mean memory\.max\?"):
        preferences.get("memory.mx")
    with pytest.raises(PreferenceError, match=r"There is no setting zzz\.$"):
        preferences.get("zzz")
    assert preferences.in_force({"memory.max": 3}, {"a.b": False}) == {"memory.max": 3, "a.b": True}
