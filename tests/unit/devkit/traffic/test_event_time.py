"""Event time of its own: where each event lies in it, when it is published, and which of them come again."""

import math
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.headroom.stretched_model import stretched
from devkit.traffic.all_streams import generate_all
from devkit.traffic.event_time import format_pace, parse_pace, timestamp_ms
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import SourceRecord
from located_config.quantity import QuantityError

DENSE: dict[str, Any] = {"rate": "1/s", "for": "10m"}
SPARSE: dict[str, Any] = {"topic": "sparse", "rate": "1/m", "for": "10m"}
BURST: dict[str, Any] = {"topic": "burst", "phases": [{"for": "9m"}, {"name": "burst", "for": "10s", "rate": "20/s"}]}
STREAMS = {"sparse": SPARSE, "burst": BURST}
SKEWED: dict[str, Any] = {"seed": 7, **DENSE, "event_times": {"published": "x60"}, "streams": STREAMS}


def spec(**changes: Any) -> TrafficSpec:
    return TrafficSpec.model_validate({**SKEWED, **changes})


def records(**changes: Any) -> tuple[SourceRecord, ...]:
    return generate_all(spec(**changes)).records


def happened(record: SourceRecord) -> float:
    """Seconds since the traffic's beginning, of event time."""
    assert record.timestamp_ms is not None
    return (record.timestamp_ms - timestamp_ms(timedelta(0), timedelta(0))) / 1000


def meta_dt(record: SourceRecord) -> str | None:
    try:
        found = orjson.loads(record.value)["meta"]["dt"]
    except orjson.JSONDecodeError:
        return None
    return str(found)


def as_text(timestamp: int) -> str:
    seconds, milliseconds = divmod(timestamp, 1000)
    return f"{timedelta(seconds=seconds % 86400)}.{milliseconds:03d}Z".rjust(13, "0")


def test_a_backlog_of_minutes_is_published_in_seconds_in_the_order_in_which_it_happened() -> None:
    found = records()
    assert len(found) == spec().event_count == 600 + 10 + 200
    assert [record.at for record in found] == sorted(record.at for record in found)
    assert found[-1].at == spec().last_event == timedelta(seconds=599 / 60)
    for record in found:
        assert record.at.total_seconds() * 60 == pytest.approx(happened(record), abs=1e-3)
    burst = [happened(record) for record in found if record.topic == "burst"]
    assert (min(burst), max(burst)) == (540, 549.95)


def test_a_record_has_the_time_that_its_event_says() -> None:
    for record in records():
        assert record.timestamp_ms is not None
        assert (dt := meta_dt(record)) is None or dt == f"2026-03-02T{as_text(record.timestamp_ms)}"


def test_at_once_everything_is_due_at_the_beginning_in_its_order() -> None:
    found = records(event_times={"published": "at once"})
    assert {record.at for record in found} == {timedelta(0)}
    assert [happened(record) for record in found] == sorted(happened(record) for record in found)
    assert spec(event_times={"published": "at once"}).last_event == timedelta(0)


def test_a_shift_moves_the_events_of_a_stream_and_not_their_publishing() -> None:
    moved = records(streams={"sparse": {**SPARSE, "shift": "-2m"}, "burst": BURST})
    for before, after in zip(records(), moved, strict=True):
        assert (before.at, before.topic, before.expected.fate) == (after.at, after.topic, after.expected.fate)
        assert happened(after) - happened(before) == (-120 if before.topic == "sparse" else 0)
        assert after.timestamp_ms is not None
        assert (dt := meta_dt(after)) is None or dt == f"2026-03-02T{as_text(after.timestamp_ms)}"


def test_what_happens_in_a_pause_is_published_at_its_end_with_its_own_time() -> None:
    pauses = [{"from": "1m", "for": "1m", "may_lapse": True}, {"from": "5m", "for": "30s"}]
    found = records(pauses=pauses)
    held = [record for record in found if record.topic is None and 60 <= happened(record) < 120]
    assert len(held) == 60
    assert {record.at for record in held} == {timedelta(seconds=2)}
    assert [happened(record) for record in held] == sorted(happened(record) for record in held)
    assert {happened(record) for record in found if record.expected.may_lapse} == {happened(record) for record in held}
    late = [record for record in found if record.topic is None and 300 <= happened(record) < 330]
    assert {record.at for record in late} == {timedelta(seconds=5.5)}
    other = [record for record in found if record.topic == "sparse"]
    assert [record.at.total_seconds() for record in other] == list(range(10))


def test_closing_canaries_lie_behind_everything_in_each_stream_and_partition() -> None:
    closing = {"canaries": {"closing": {"after": "5m", "partitions": 3}}}
    found = records(**closing, streams={"sparse": {**SPARSE, **closing}, "burst": BURST})
    *others, a, b, c, d, e, f = found
    last = (a, b, c, d, e, f)
    assert {record.expected.reason for record in last} == {"canary"}
    assert Counter((record.topic, record.partition) for record in last) == Counter(
        (topic, partition) for topic in (None, "sparse") for partition in range(3)
    )
    assert {happened(record) for record in last} == {900}
    assert {record.at for record in last} == {max(record.at for record in others)} == {spec().last_event}
    assert not any(record.closes for record in others)


def test_a_repeat_is_its_event_received_again() -> None:
    found = records(streams={}, repeats={"share": "10%", "after": "30s"}, event_times={"published": "x1"})
    repeats = [record for record in found if record.expected.repeat]
    assert len(repeats) == 60
    firsts = {record.expected.event_id: record for record in found if not record.expected.repeat}
    for again in repeats:
        first = firsts[again.expected.event_id]
        assert (happened(again) - happened(first), again.at - first.at) == (30, timedelta(seconds=30))
        assert again.expected.model_copy(update={"repeat": False}) == first.expected
        assert again.key == first.key
        event, repeated = orjson.loads(first.value), orjson.loads(again.value)
        assert event.pop("meta") | {"dt": None} == repeated.pop("meta") | {"dt": None}
        assert event == repeated


def test_repeats_need_no_event_time_of_their_own_and_change_no_other_event() -> None:
    plain = {"seed": 7, "rate": "20/s", "for": "10s", "pages": {"Named": {}}}
    without = generate_all(TrafficSpec.model_validate(plain)).records
    repeated = TrafficSpec.model_validate({**plain, "repeats": {"share": "5%", "after": "1s"}, "mix": {"not_json": 0}})
    found = generate_all(repeated).records
    assert len(found) == repeated.event_count == len(without) + 10
    assert max(record.at for record in found) == repeated.last_event
    assert {record.timestamp_ms for record in found} == {None}


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.one_of(st.none(), st.integers(1, 20))), min_size=1, max_size=4).filter(
        lambda phases: sum((rate or 0) * length for length, rate in phases) >= 20
    ),
    st.sampled_from(["x0.5", "x1", "x7", "at once"]),
    st.integers(0, 3),
    st.integers(5, 30),
    st.integers(0, 2**32),
)
def test_no_seed_changes_a_count_or_a_time(
    phases: list[tuple[int, int | None]], pace: str, pause: int, share: int, seed: int
) -> None:
    length = sum(seconds for seconds, _ in phases)
    shape: dict[str, Any] = {
        "phases": [{"for": f"{seconds}s"} | ({"rate": f"{rate}/s"} if rate else {}) for seconds, rate in phases],
        "event_times": {"published": pace},
        "pauses": [{"from": "0s", "for": f"{pause}s", "may_lapse": True}] if pause else [],
        "repeats": {"share": f"{share}%", "after": "700ms"},
        "canaries": {"every": "1s", "closing": {"after": "1m", "partitions": 2}},
        "shift": "-5s",
        "pages": {"Hot": {"share": "20%"}, "Named": {}},
    }

    def played(seed: int) -> tuple[TrafficSpec, tuple[SourceRecord, ...]]:
        found = TrafficSpec.model_validate({"seed": seed, **shape})
        return found, generate_all(found).records

    found, made = played(seed)
    assert made == played(seed)[1]
    other = played(seed + 1)[1]
    assert len(made) == found.event_count
    assert [(record.at, record.timestamp_ms) for record in made] == [
        (record.at, record.timestamp_ms) for record in other
    ]
    assert made[-1].at == found.last_event

    assert [(one.expected.repeat, one.expected.may_lapse) for one in made] == [
        (one.expected.repeat, one.expected.may_lapse) for one in other
    ]
    # Of which model a page is that is moved or restored, its seed says.
    reasons = ("canary", "malformed_json", "schema_violation")
    counts = [Counter(one.expected.reason for one in of) for of in (made, other)]
    assert {reason: counts[0][reason] for reason in reasons} == {reason: counts[1][reason] for reason in reasons}
    drawn = sum((rate or 0) * seconds for seconds, rate in phases)
    repeats = [record for record in made if record.expected.repeat]
    assert len(repeats) == round(share / 100 * drawn)
    hot = [one for one in made if one.expected.page and one.expected.page.title == "Hot" and not one.expected.repeat]
    assert len(hot) == round(0.2 * drawn)
    firsts = Counter(record.expected.event_id for record in made if not record.expected.repeat)
    assert all(firsts[record.expected.event_id] == 1 for record in repeats)
    assert len({record.expected.event_id for record in repeats}) == len(repeats)
    closing = made[-2:]
    assert all(-5 <= happened(record) <= length + 0.7 - 5 for record in made[:-2])
    assert {happened(record) for record in closing} == {length + 60 - 5}
    for record in made:
        moment = happened(record) + 5
        assert record.expected.may_lapse == (moment < pause)
    # In one partition nothing is out of its order but what a pause holds back, which has an order of its own.
    in_order = [happened(record) for record in made if not record.expected.may_lapse]
    held = [happened(record) for record in made if record.expected.may_lapse]
    assert in_order == sorted(in_order)
    assert all(one <= after for one, after in pairwise(held))


def test_a_stretch_leaves_pace_and_counts() -> None:
    slower = stretched(
        spec(shift="-10s", pauses=[{"from": "1m", "for": "1m"}], repeats={"share": "5%", "after": "2s"}), 2
    )
    assert slower.own_event_time is not None
    assert (slower.own_event_time.published, slower.shift) == (60, timedelta(seconds=-20))
    assert (slower.pauses[0].from_, slower.pauses[0].to) == (timedelta(minutes=2), timedelta(minutes=4))
    assert slower.repeats is not None
    assert slower.repeats.after == timedelta(seconds=4)
    assert slower.event_count == spec(repeats={"share": "5%", "after": "2s"}).event_count
    assert slower.last_event.total_seconds() == pytest.approx(2 * spec().last_event.total_seconds(), abs=1e-5)


def test_a_named_phase_is_the_time_in_which_it_is_published() -> None:
    assert spec().named_phases == {"burst": (timedelta(seconds=9), timedelta(seconds=550 / 60))}


@pytest.mark.parametrize(("text", "pace"), [("x60", 60), (" x 0.5 ", 0.5), ("at once", math.inf), ("x1", 1)])
def test_a_pace_reads_back_what_it_is_written_as(text: str, pace: float) -> None:
    assert parse_pace(text) == parse_pace(format_pace(parse_pace(text))) == pace


@pytest.mark.parametrize("text", ["x0", "60", 60, "xx", "twice"])
def test_what_is_no_pace(text: object) -> None:
    with pytest.raises(QuantityError, match="write x60 for 60 times as fast as it happened, or 'at once'"):
        parse_pace(text)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"event_times": "fixed", "shift": "-2m"}, "shift is of event time, write `event_times"),
        (
            {"event_times": "when published", "streams": {"a": {**SPARSE, "pauses": [{"from": "1m", "for": "1m"}]}}},
            "streams.a.pauses is of event time",
        ),
        ({"event_times": "fixed", "canaries": {"closing": {"after": "1m"}}}, "canaries.closing is of event time"),
        ({"event_times": "fixd"}, "'fixed' or 'when published'"),
        ({"event_times": {"pace": "x60"}}, "event_times.published"),
        ({"shift": "25h"}, "more than a day"),
        ({"pauses": [{"from": "2m", "for": "1m"}, {"from": "2m", "for": "1m"}]}, "in order of time"),
        ({"pauses": [{"from": "10m", "for": "1m"}]}, "begins when the stream is over"),
        ({"repeats": {"share": "0.01%", "after": "1s"}}, "which gives none"),
        ({"repeats": {"share": "0%", "after": "1s"}}, "must be above 0"),
        ({"repeats": {"share": "90%", "after": "1s"}}, "can be repeated"),
        ({"rate": "1e9/s", "repeats": {"share": "20%", "after": "1s"}}, "events are more than 200000, lower rate"),
        ({"canaries": {}}, "no canary; write every, closing or both"),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**changes)
