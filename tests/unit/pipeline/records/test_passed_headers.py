"""Which headers of a source record go on with what is made of it."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.claim_check import Claim
from pipeline.records.event_id import event_id_headers
from pipeline.records.passed_headers import is_own, passed_on
from pipeline.records.record import Position

NAMES = ("traceparent", "tracestate", "baggage")
FOUND = st.lists(
    st.tuples(st.sampled_from([*NAMES, "other", "source-offset"]), st.none() | st.binary(max_size=30)), max_size=8
)


@given(FOUND, st.lists(st.sampled_from(NAMES), unique=True), st.integers(0, 120))
def test_what_is_allowed_and_fits_goes_on(
    found: list[tuple[str, bytes | None]], names: list[str], max_bytes: int
) -> None:
    passed = passed_on(found, names, max_bytes)
    last = dict(found)
    assert [name for name, _ in passed] == [name for name in names if name in dict(passed)]
    assert all(last[name] == value for name, value in passed)
    size = sum(len(name) + len(value) for name, value in passed)
    assert size <= max_bytes
    for name in set(names) - set(dict(passed)):
        value = last.get(name)
        before = sum(len(one) + len(of) for one, of in passed if names.index(one) < names.index(name))
        assert value is None or before + len(name) + len(value) > max_bytes, "it would have fitted"


def test_the_last_of_a_name_counts() -> None:
    found = [("traceparent", b"1"), ("tracestate", b"2"), ("traceparent", b"3"), ("tracestate", None)]
    assert passed_on(found, NAMES, 100) == (("traceparent", b"3"),)


def test_every_header_that_the_pipeline_writes_is_its_own() -> None:
    written = Position("a", 0, 1).headers() + Claim("b", "k", 1, "0" * 64).headers() + event_id_headers("an id")
    assert all(is_own(name) for name, _ in written)
    assert not any(is_own(name) for name in (*NAMES, "source", "source-topics", "x-source-topic"))
