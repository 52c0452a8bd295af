"""`pipeline replay` and `pipeline fan-out` as an operator calls them, on faked topics."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.ops import topic_commands
from pipeline.ops.source import OF_SOURCE
from tests.unit.pipeline.least_config import write_config
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, FakeTarget, Row, opening

SRC = "mediawiki.page_change.v1"
ROWS = [Row(partition, offset, offset, b"k", b"v") for partition in range(2) for offset in range(10)]
Go = Callable[..., Result]


@pytest.fixture
def target() -> FakeTarget:
    return FakeTarget()


@pytest.fixture
def made() -> list[tuple[str, str, int]]:
    """Topics that were made."""
    return []


@pytest.fixture
def go(tmp_path: Path, target: FakeTarget, made: list[tuple[str, str, int]], monkeypatch: pytest.MonkeyPatch) -> Go:
    topics = {
        SRC: FakeConsumer(ROWS, partitions=2),
        "same": FakeConsumer([], partitions=2, topic="same"),
        "narrow": FakeConsumer([], partitions=1, topic="narrow"),
        "held": FakeConsumer(ROWS, partitions=2, topic="held"),
    }

    def opened_topic(_bootstrap: str, topic: str, *, named_by: str = OF_SOURCE) -> AbstractContextManager[Any]:
        found = topics.get(topic, FakeConsumer([], partitions=0, topic=topic))
        return opening(found.as_topic(named_by=named_by))

    def make_target(_bootstrap: str, source: str, name: str, partitions: int) -> None:
        made.append((source, name, partitions))
        topics.setdefault(name, FakeConsumer([], partitions=partitions, topic=name))

    def call(*arguments: str, topics: tuple[str, ...] = (), source: Mapping[str, Any] = MappingProxyType({})) -> Result:
        file = write_config(
            tmp_path, source={"bootstrap_servers": "broker:9092", **({"topics": topics} if topics else {}), **source}
        )
        return CliRunner().invoke(main, [*arguments, "--config", str(file)])

    monkeypatch.setattr(topic_commands, "opened_topic", opened_topic)
    monkeypatch.setattr(topic_commands, "opened_target", lambda *_: opening(target))
    monkeypatch.setattr(topic_commands, "make_target", make_target)
    return call


@pytest.mark.parametrize(("into", "partitions"), [(SRC, {0, 1}), ("same", {0, 1}), ("narrow", {None})])
def test_replay(go: Go, target: FakeTarget, into: str, partitions: set[int | None]) -> None:
    result = go("replay", "--from", "0:7,1:4", "--to", "latest", "--into", into, "--rate", "10000")
    assert result.exit_code == 0
    assert f"9 events replayed into {into}" in result.stdout
    assert len(target.sent) == target.finished == 9
    assert {copy.partition for copy in target.sent} == partitions
    assert {dict(copy.headers)["replayed-from"] for copy in target.sent} == {
        f"{SRC}/{partition}/{offset}".encode() for partition, first in ((0, 7), (1, 4)) for offset in range(first, 10)
    }


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("mediawiki.page_html_content_change.v1", "sink.topic"),
        ("mw_page_html_content_change_enrich.error", "sink.error_topic"),
        ("mw_page_html_content_change_enrich.lapsed", "sink.lapsed_topic"),
        ("mw_page_html_content_change_enrich.deferred", "deferral.topic"),
    ],
)
def test_no_source_event_goes_where_the_job_writes(go: Go, made: list[Any], written: str, key: str) -> None:
    at = {"bootstrap_servers": "127.0.0.1:1"}
    result = go("replay", "--from", "earliest", "--to", "latest", "--into", written, "--dry-run", source=at)
    assert (result.exit_code, f"--into {written} is {key}" in result.stderr) == (2, True)
    result = go("fan-out", SRC, written, source=at)
    assert (result.exit_code, f"DST {written} is {key}" in result.stderr, made) == (2, True, [])
    assert go("fan-out", SRC, written, "--partitions", "2").exit_code == 0, "at other brokers it is another topic"


def test_a_dry_run_counts_and_sends_nothing(go: Go, target: FakeTarget) -> None:
    result = go("replay", "--from", "earliest", "--to", "0:5,1:6", "--into", SRC, "--dry-run", "--rate", "2")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{SRC}/0: 0 up to 5",
        f"{SRC}/1: 0 up to 6",
        "11 events, 6 s at 2 a second; none is sent",
    ]
    assert not target.sent


EVERYTHING = ["replay", "--from", "earliest", "--to", "latest"]
NO_RATE = "'fast' is no rate; write 20/s, 100/min or a number of events a second."


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["replay", "--from", "latest", "--to", "earliest", "--into", SRC], "before it begins"),
        (["replay", "--from", "0:11", "--to", "latest", "--into", SRC], "is not in the topic"),
        (["replay", "--from", "2h", "--to", "latest", "--into", SRC], "is no moment"),
        ([*EVERYTHING, "--into", "missing"], "there is no topic"),
        (EVERYTHING, "Missing option '--into'"),
        *(
            ([*EVERYTHING, "--into", SRC, "--rate", rate], "'--rate'")
            for rate in ("0", "1e-12", "nan", "inf", "-inf", "fast", "2/week", "2e6/s")
        ),
        ([*EVERYTHING, "--into", SRC, "--rate", "fast"], NO_RATE),
        (["fan-out", SRC, SRC], "cannot be copied into itself"),
        (["fan-out", SRC, "held", "--partitions", "2"], "holds 20 records"),
        (["fan-out", SRC, "same"], "is there with 2 partitions, not 32"),
        (["fan-out", "missing", "wide"], "there is no topic"),
        (["fan-out", SRC, "wide", "--partitions", "0"], "'--partitions'"),
    ],
)
def test_what_is_refused_sends_nothing(go: Go, target: FakeTarget, arguments: list[str], why: str) -> None:
    result = go(*arguments)
    assert result.exit_code == 2
    assert why in result.stderr
    assert not target.sent


@pytest.mark.parametrize("rate", ["2", "2/s", "120/min"])
def test_a_rate_is_written_as_everywhere_or_as_a_number_a_second(go: Go, rate: str) -> None:
    result = go("replay", "--from", "earliest", "--to", "0:5,1:6", "--into", SRC, "--dry-run", "--rate", rate)
    assert "11 events, 6 s at 2 a second; none is sent" in result.stdout


def test_of_several_topics_one_is_named(go: Go, target: FakeTarget) -> None:
    between = ["--from", "earliest", "--to", "latest", "--into", "same", "--rate", "10000"]
    several = ("held", SRC)
    result = go("replay", *between, topics=several)
    assert (result.exit_code, result.stderr.splitlines()[1]) == (2, f"hint: --topic says which: held, {SRC}")
    assert go("replay", *between, "--topic", "narrow", topics=several).exit_code == 2
    assert not target.sent
    assert go("replay", *between, "--topic", SRC, topics=several).exit_code == 0
    assert len(target.sent) == len(ROWS)
    target.stopped_at = len(ROWS) + 1
    assert f"--topic {SRC}" in go("replay", *between, "--topic", SRC, topics=several).stderr


@pytest.mark.parametrize(
    ("within", "into", "says"),
    [
        ("10m", SRC, "the job drops a copy as a repeat where its original is less than 10m old (source.deduplicate)"),
        ("ever", SRC, "the job drops every copy as a repeat of its original (source.deduplicate)"),
        ("10m", "same", ""),
    ],
)
def test_a_replay_into_a_job_that_drops_repeats_says_so(go: Go, within: str, into: str, says: str) -> None:
    source = {"read": "aligned", "deduplicate": {"within": within}}
    result = go("replay", "--from", "earliest", "--to", "latest", "--into", into, "--dry-run", source=source)
    assert result.exit_code == 0, result.output
    assert [line for line in result.stdout.splitlines() if "repeat" in line] == ([says] if says else [])


def test_a_replay_that_breaks_off_is_exit_1(go: Go, target: FakeTarget) -> None:
    target.room = 3
    result = go("replay", "--from", "earliest", "--to", "latest", "--into", SRC, "--rate", "10000")
    assert result.exit_code == 1
    assert "topic full (of 3 records sent)" in result.stderr


def test_a_topic_that_is_not_there_is_looked_for_where_it_was_named(go: Go) -> None:
    between = ["--from", "earliest", "--to", "latest"]
    assert go("replay", *between, "--into", "missing").stderr.splitlines()[1] == "hint: look at --into"
    assert go("fan-out", "missing", "wide").stderr.splitlines()[1] == "hint: look at SRC"


@pytest.mark.parametrize("sent", [0, 1, 5, 11])
def test_a_replay_that_was_stopped_says_where_it_goes_on(go: Go, target: FakeTarget, sent: int) -> None:
    """What it says is what it takes, and both together have each event once."""
    target.stopped_at = sent
    stopped = go("replay", "--from", "0:7,1:2", "--to", "latest", "--into", "same", "--rate", "10000")
    if sent == 11:
        assert stopped.exit_code == 0
    else:
        assert stopped.exit_code == 130
        output, hint = stopped.stderr.splitlines()
        assert output == f"error: stopped, with {sent} records sent, all of them acknowledged"
        assert target.finished == sent
        target.stopped_at = None
        again = hint.removeprefix("hint: it goes on with ").split()
        assert go("replay", *again, "--rate", "10000").exit_code == 0
    places = [dict(copy.headers)["replayed-from"].decode() for copy in target.sent]
    assert sorted(places) == sorted(
        f"{SRC}/{partition}/{offset}" for partition, first in ((0, 7), (1, 2)) for offset in range(first, 10)
    )


def test_a_fan_out_that_was_stopped_has_to_begin_again(go: Go, target: FakeTarget) -> None:
    target.stopped_at = 3
    result = go("fan-out", SRC, "wide", "--partitions", "8")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[1] == "hint: delete wide, and begin again"


def test_fan_out(go: Go, target: FakeTarget, made: list[tuple[str, str, int]]) -> None:
    result = go("fan-out", SRC, "wide", "--partitions", "8")
    assert (result.exit_code, result.stdout) == (0, "20 events copied into wide, 8 partitions\n")
    assert made == [(SRC, "wide", 8)]
    assert len(target.sent) == target.finished == 20
