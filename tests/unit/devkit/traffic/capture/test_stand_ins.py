from itertools import combinations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.traffic.capture.stand_ins import StandIns

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


@given(st.lists(TEXTS, max_size=20))
def test_lengths_stay_and_what_was_equal_is_equal_and_nothing_else(texts: list[str]) -> None:
    stand_ins = StandIns()
    made = [stand_ins.text(text) for text in texts]
    for text, stand_in in zip(texts, made, strict=True):
        assert len(stand_in) == len(text)
        assert len(stand_in.encode()) == len(text.encode())
        assert len(orjson.dumps(stand_in)) == len(orjson.dumps(text))
    # What JSON escapes stays, so texts of nothing else are their own stand-ins.
    for (one, made_of_one), (other, made_of_other) in combinations(zip(texts, made, strict=True), 2):
        assert (one == other) == (made_of_one == made_of_other)


@given(TEXTS.filter(lambda text: any(letter.isalnum() for letter in text)))
def test_no_text_stands_for_itself(text: str) -> None:
    assert StandIns().text(text) != text


def test_a_key_decides_and_is_drawn_anew() -> None:
    assert StandIns(b"one").text("Alice") == StandIns(b"one").text("Alice")
    assert StandIns(b"one").text("Alice") != StandIns(b"other").text("Alice")
    assert StandIns().text("Alice") != StandIns().text("Alice")
    assert StandIns(b"one").digest(b"x") != StandIns(b"other").digest(b"x")


@pytest.mark.parametrize(("text", "is_upper"), [("Alice", True), ("alice", False), ("2001:DB8::1", None)])
def test_it_begins_as_a_title_does(text: str, is_upper: bool | None) -> None:
    first = StandIns(b"a").text(text)[0]
    assert first.isdigit() or is_upper is None or first.isupper() == is_upper


@given(st.lists(st.integers(-(10**12), 10**12), max_size=8))
def test_a_number_keeps_its_digits_and_its_equals(numbers: list[int]) -> None:
    stand_ins = StandIns()
    made = [stand_ins.number(number) for number in numbers]
    assert [len(str(one)) for one in made] == [len(str(number)) for number in numbers]
    for (one, of_one), (other, of_other) in combinations(zip(numbers, made, strict=True), 2):
        assert (one == other) == (of_one == of_other)


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_one_digit_are_told_apart_by_any_key(sign: int) -> None:
    for key in range(100):
        stand_ins = StandIns(bytes([key]))
        made = [stand_ins.number(sign * number) for number in range(1, 9)]
        assert len({*made}) == 8
        assert {len(str(one)) for one in made} == {len(str(sign))}


def test_where_there_are_not_enough_two_texts_share_one() -> None:
    stand_ins = StandIns()
    made = [stand_ins.text(chr(code)) for code in range(ord("#"), ord("["))]
    assert all(len(one) == 1 for one in made)
