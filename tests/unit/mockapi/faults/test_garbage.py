from hypothesis import given
from hypothesis import strategies as st

from mockapi.server.delivery import BytePlace, Ending
from tests.unit.mockapi.faults.planned import delivery, problem


def ending(fault: object, **at: object) -> Ending:
    made = delivery({"garbage": fault}, **at).ending
    assert made is not None
    return made


@given(st.integers(0, 2**64), st.integers(1, 9), st.integers(1, 2_000))
def test_so_many_bytes_that_are_no_http(seed: int, attempt: int, count: int) -> None:
    made = ending({"bytes": count}, seed=seed, attempt=attempt)
    assert len(made.then) == count
    assert made.then[0] > 127
    assert made == ending({"bytes": count}, seed=seed, attempt=attempt)


def test_each_attempt_gets_its_own() -> None:
    assert ending({}).then != ending({}, attempt=2).then


def test_it_takes_the_place_of_all_or_of_the_body() -> None:
    assert ending({}).place is BytePlace.BEFORE_HEADERS
    assert ending("after headers").place is BytePlace.BEFORE_BODY


def test_there_is_some_and_not_too_much() -> None:
    assert "greater than or equal to 1" in problem({"garbage": {"bytes": 0}})
    assert "less than or equal to 1048576" in problem({"garbage": {"bytes": "2MiB"}})
