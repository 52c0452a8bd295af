"""`pipeline checkpoint …` and `pipeline lag` as an operator calls them, on a recorded checkpoint and a faked topic."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.errors import PipelineError
from pipeline.ops import checkpoint_commands
from pipeline.ops.files import _ENDPOINTS
from pipeline.ops.source import SourceTopic
from tests.unit.pipeline.least_config import write_config
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row
from tests.unit.pipeline.ops.places import QUERY_ID, TOPIC, checkpoint_at, contents, recorded, rewrite

# 2026-01-01T00:00:00Z, and a record in each second from there on.
BEGIN_MS = 1_767_225_600_000
ROWS = [Row(partition, offset, BEGIN_MS + offset * 1000) for partition in range(2) for offset in range(25)]
Go = Callable[..., Result]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A checkpoint that was written long ago, however new the files of this copy are."""
    made = recorded(tmp_path)
    age(made)
    return made


def age(place: Path) -> None:
    for path in place.rglob("*"):
        os.utime(path, (1, 1))


@pytest.fixture
def go(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Go:
    def call(
        *arguments: str,
        consumer: FakeConsumer | None = None,
        failure: PipelineError | None = None,
        topic: str = TOPIC,
        others: tuple[str, ...] = (),
    ) -> Result:
        @contextmanager
        def opened(bootstrap: str, asked: str) -> Iterator[SourceTopic]:
            assert bootstrap == "broker:9092"
            assert asked in (topic, *others)
            if failure:
                raise failure
            yield (consumer or FakeConsumer(ROWS, partitions=2, topic=asked)).as_topic()

        monkeypatch.setattr(checkpoint_commands, "opened_topic", opened)
        monkeypatch.setattr(checkpoint_commands, "cluster_id", {"broker:9092": "c1"}.__getitem__)
        topics = {"topics": [topic, *others]} if others else {"topic": topic}
        source = {"bootstrap_servers": "broker:9092", **topics}
        file = write_config(tmp_path, source=source, checkpoint=str(place))
        return CliRunner().invoke(main, [*arguments, "--config", str(file)])

    return call


def test_verify_is_exit_0_when_the_job_can_continue(go: Go, place: Path) -> None:
    result = go("checkpoint", "verify")
    assert (result.exit_code, result.stdout) == (0, f"the job can continue from checkpoint {place}\n")


def mark(place: Path, **changes: Any) -> None:
    marked = {"job": "html-enrichment", "source": TOPIC, "sink": "mediawiki.page_html_content_change.v1"} | changes
    (place / "job.json").write_bytes(orjson.dumps(marked))


def test_whose_checkpoint_it_is(go: Go, place: Path) -> None:
    shown = go("checkpoint", "show")
    assert shown.exit_code == 0
    assert QUERY_ID in shown.stdout
    assert shown.stdout.splitlines()[-1] == "made by     unknown: there is no job.json"
    mark(place, cluster="c1")
    made_by = f"html-enrichment, from topic {TOPIC} in cluster c1 to mediawiki.page_html_content_change.v1"
    assert go("checkpoint", "show").stdout.splitlines()[-1] == f"made by     {made_by}"
    assert go("checkpoint", "verify").exit_code == 0


def test_a_fork_is_nobodys_until_a_job_takes_it(go: Go, place: Path, tmp_path: Path) -> None:
    mark(place)
    assert go("checkpoint", "fork", str(tmp_path / "fork")).exit_code == 0
    assert not (tmp_path / "fork" / "job.json").exists()


STATE = {"operator": "dedupeWithinWatermark", "key": "id", "provider": "rocksdb", "partitions": 3}


def with_state(place: Path) -> None:
    mark(place, ledger={"topic": "deferred", "id": "x", "epoch": 4}, state=STATE)
    (place / "state/0/1").mkdir(parents=True)
    (place / "state/0/1/1.changelog").write_bytes(b"changes")


def test_the_state_is_shown(go: Go, place: Path) -> None:
    with_state(place)
    shown = go("checkpoint", "show").stdout.splitlines()[-1]
    assert shown == "state       deduplicate by id, 3 partitions in rocksdb"


STATE_TEXT = "has a state (deduplicate by id, 3 partitions in rocksdb), and the configuration has no"
HTML_SINK = "mediawiki.page_html_content_change.v1"


@pytest.mark.parametrize(
    ("change", "topic", "why"),
    [
        pytest.param(lambda _: None, "other", f"it is of topic {TOPIC}, and the job reads other", id="topic"),
        pytest.param(
            lambda place: mark(place, job="content-enrichment", sink="other"),
            TOPIC,
            "another job has made it: job content-enrichment, not html-enrichment",
            id="job",
        ),
        pytest.param(lambda place: mark(place, sink="other"), TOPIC, f"sink topic other, not {HTML_SINK}", id="sink"),
        pytest.param(
            lambda place: mark(place, cluster="c2"),
            TOPIC,
            "another job has made it: source cluster c2, not c1\n",
            id="cluster",
        ),
        pytest.param(
            lambda place: (place / "job.json").write_text("[]"), TOPIC, "job.json does not say whose it is", id="mark"
        ),
        pytest.param(with_state, TOPIC, STATE_TEXT, id="state"),
        pytest.param(
            lambda place: (place / "sub").mkdir(),
            TOPIC,
            "checkpoint is no checkpoint of a job's: it holds sub; move that away\n",
            id="a directory that is not Spark's",
        ),
    ],
)
def test_verify_is_exit_2_when_the_job_could_not_continue(
    go: Go, place: Path, change: Callable[[Path], Any], topic: str, why: str
) -> None:
    change(place)
    result = go("checkpoint", "verify", topic=topic)
    assert result.exit_code == 2
    assert why in result.output


def test_a_fork_takes_the_state_along_and_neither_output_nor_ledger(go: Go, place: Path, tmp_path: Path) -> None:
    with_state(place)
    assert go("checkpoint", "fork", str(tmp_path / "fork")).exit_code == 0
    assert (tmp_path / "fork/state/0/1/1.changelog").read_bytes() == b"changes"
    copied = orjson.loads((tmp_path / "fork/job.json").read_bytes())
    assert (copied["ledger"], copied["sink"]) == (None, None)
    assert STATE.items() <= copied["state"].items()


@pytest.mark.parametrize("where", [["--yes"], ["--into", "beside"]])
def test_a_state_has_no_other_position(go: Go, place: Path, where: list[str]) -> None:
    with_state(place)
    age(place)
    result = go("checkpoint", "set-offsets", "--at", "2026-01-01T00:00:07Z", *where)
    assert result.exit_code == 2
    assert f"checkpoint {place} has a state, which belongs to its own batches" in result.stderr
    assert "run --new timestamp=" in result.stderr


OTHERS = {
    "sink": ({"sink": "other"}, TOPIC, "sink topic other, not mediawiki.page_html_content_change.v1"),
    "job": ({"job": "content-enrichment"}, TOPIC, "job content-enrichment, not html-enrichment"),
    "cluster": ({"cluster": "c2"}, TOPIC, "source cluster c2, not c1"),
    "topic": (None, "other", f"offsets of topic {TOPIC}, not other"),
}
SET = ["checkpoint", "set-offsets", "--at", "2026-01-01T00:00:07Z"]


@pytest.mark.parametrize("of", OTHERS)
@pytest.mark.parametrize(
    "arguments",
    [[*SET, "--yes"], [*SET, "--into", "beside"], ["checkpoint", "fork", "beside"], ["lag"]],
    ids=["set", "set beside", "fork", "lag"],
)
def test_another_jobs_checkpoint_is_left_alone(go: Go, place: Path, arguments: list[str], of: str) -> None:
    change, topic, why = OTHERS[of]
    if change is not None:
        mark(place, **change)
        age(place)
    before = contents(place.parent)
    result = go(*[str(place.parent / one) if one == "beside" else one for one in arguments], topic=topic)
    if "fork" in arguments and of == "cluster":
        assert result.exit_code == 0, "it asks no broker"
        return
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"checkpoint {place} is another job's: {why}\nhint: --config is the file of the job" in result.stderr
    after = contents(place.parent)
    del after["pipeline.yaml"]
    assert after == before


@pytest.mark.parametrize("arguments", [["fork"], ["set-offsets", "--at", "2026-01-01T00:00:07Z", "--into"]])
def test_nothing_is_made_within_a_checkpoint(go: Go, place: Path, arguments: list[str]) -> None:
    before = contents(place)
    result = go("checkpoint", *arguments, str(place / "sub"))
    assert result.exit_code == 2
    assert f"{place}/sub is inside checkpoint {place}" in result.stderr
    assert contents(place) == before
    assert go("checkpoint", "verify").exit_code == 0


def test_lag_is_that_of_all_partitions(go: Go) -> None:
    result = go("lag")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].split()[:2] == ["all", "30"]


@pytest.fixture
def of_two_topics(place: Path) -> Path:
    rewrite(place, "offsets/2", '{"0":20}}', '{"0":20},"links":{"0":25,"1":24}}')
    age(place)
    return place


@pytest.mark.usefixtures("of_two_topics")
def test_the_lag_of_several_topics_is_a_table_of_each(go: Go) -> None:
    result = go("lag", others=("links",))
    assert result.exit_code == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[1] for row in rows if row[0] == "topic"] == [TOPIC, "links"]
    assert [row[1] for row in rows if row[0] == "all"] == ["30", "1"]
    assert rows[-1][:2] == ["total", "31"]
    assert go("checkpoint", "verify", others=("links",)).exit_code == 0
    assert f"is another job's: offsets of topic links, not {TOPIC}" in go("lag").stderr


def test_the_position_of_all_topics_is_set_at_once(go: Go, of_two_topics: Path) -> None:
    result = go("checkpoint", "set-offsets", "--at", "2026-01-01T00:00:22Z", "--yes", others=("links",))
    assert result.exit_code == 0, result.stderr
    assert checkpoint_at(of_two_topics).committed() == {TOPIC: {0: 22, 1: 22}, "links": {0: 22, 1: 22}}
    assert f"offsets of {TOPIC} 0:20 -> 0:22, 1:22\noffsets of links 0:25, 1:24 -> 0:22, 1:22\n" in result.stdout
    assert "5 events come again, 2 are passed over" in result.stdout


def test_fork(go: Go, tmp_path: Path) -> None:
    target = tmp_path / "fork"
    result = go("checkpoint", "fork", str(target))
    assert result.exit_code == 0
    query_id = checkpoint_at(target).query_id
    assert query_id != QUERY_ID
    assert f"{target}: 8 files, query id {query_id}\n" in result.stdout
    assert go("checkpoint", "fork", str(target)).exit_code == 2


def test_set_offsets_beside(go: Go, place: Path, tmp_path: Path) -> None:
    before = contents(place)
    target = tmp_path / "new"
    result = go("checkpoint", "set-offsets", "--at", "2026-01-01T00:00:07Z", "--into", str(target))
    assert result.exit_code == 0
    assert checkpoint_at(target).committed() == {TOPIC: {0: 7, 1: 7}}
    assert contents(place) == before
    assert "offsets 0:20 -> 0:7, 1:7\n13 events come again, 0 are passed over\n" in result.stdout
    assert "name it as `checkpoint` in the job's file" in result.stdout


@pytest.mark.parametrize("is_in_a_batch", [False, True])
def test_set_offsets_in_place(go: Go, place: Path, is_in_a_batch: bool) -> None:
    if is_in_a_batch:
        (place / "commits" / "2").unlink()
        age(place)
    result = go("checkpoint", "set-offsets", "--at", "2026-01-01T00:00:22Z", "--yes")
    assert result.exit_code == 0
    assert checkpoint_at(place).committed() == {TOPIC: {0: 22, 1: 22}}
    assert "batch 3 ends at 2026-01-01T00:00:22Z" in result.stdout
    assert "0 events come again, " in result.stdout
    given_up = "batch 2 was planned and not committed, and is given up" in result.stdout
    assert (given_up, "2 are passed over" in result.stdout) == (is_in_a_batch, not is_in_a_batch)


def test_retention_is_an_error_and_yes_goes_on_with_what_is_left(go: Go, place: Path) -> None:
    left = FakeConsumer(ROWS, partitions=2, first={1: 9})
    arguments = ["checkpoint", "set-offsets", "--at", "2026-01-01T00:00:07Z", "--into", f"{place}-new"]
    result = go(*arguments, consumer=left)
    assert result.exit_code == 2
    assert "partition 1 begins at offset 9, 2026-01-01T00:00:09Z" in result.stderr
    assert go(*arguments, "--yes", consumer=left).exit_code == 0
    assert checkpoint_at(Path(f"{place}-new")).committed() == {TOPIC: {0: 7, 1: 9}}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--at", "2026-01-01T00:00:07Z"], "this would set checkpoint"),
        (["--at", "2126-01-01T00:00:07Z", "--yes"], "is in the future"),
        (["--at", "now", "--yes"], "'now' is no moment"),
        (["--yes"], "Missing option '--at'"),
    ],
)
def test_what_is_refused_changes_nothing(go: Go, place: Path, arguments: list[str], why: str) -> None:
    before = contents(place)
    result = go("checkpoint", "set-offsets", *arguments)
    assert result.exit_code == 2
    assert why in result.stderr
    assert contents(place) == before


def test_a_place_that_is_taken_is_refused_before_the_broker_is_asked(go: Go, place: Path) -> None:
    arguments = ["checkpoint", "set-offsets", "--at", "1h ago", "--into", str(place)]
    result = go(*arguments, failure=PipelineError("asked"))
    assert result.exit_code == 2
    assert "is not empty" in result.stderr


def test_a_job_that_may_run_is_refused(go: Go, place: Path) -> None:
    (place / "commits" / "2").touch()
    arguments = ["checkpoint", "set-offsets", "--at", "2026-01-01T00:00:07Z", "--yes"]
    result = go(*arguments)
    assert result.exit_code == 2
    assert "does the job run?" in result.stderr
    assert go(*arguments, "--stopped").exit_code == 0


@pytest.mark.parametrize("arguments", [["checkpoint", "verify"], ["lag"]])
def test_a_broker_that_does_not_answer_is_exit_1(go: Go, arguments: list[str]) -> None:
    result = go(*arguments, failure=PipelineError("Kafka at broker:9092 does not answer", hint="look"))
    assert (result.exit_code, result.stderr) == (1, "error: Kafka at broker:9092 does not answer\nhint: look\n")


@pytest.mark.parametrize("arguments", [["checkpoint", "show"], ["checkpoint", "verify"], ["lag"]])
def test_without_a_checkpoint_it_is_exit_2(go: Go, place: Path, arguments: list[str]) -> None:
    place.rename(f"{place}-gone")
    result = go(*arguments)
    assert result.exit_code == 2
    assert f"checkpoint {place} holds no position" in result.stderr


def test_all_commands_are_listed_and_found() -> None:
    listed = CliRunner().invoke(main, ["--help"]).stdout
    for name in ("run", "deferred", "checkpoint", "lag", "replay", "fan-out"):
        assert f"  {name} " in listed
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_the_help_says_where_the_store_is_looked_for() -> None:
    shown = " ".join(CliRunner().invoke(main, ["lag", "-h"]).stdout.split())
    assert all(name in shown for name in _ENDPOINTS)
