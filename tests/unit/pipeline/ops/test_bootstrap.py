"""`pipeline bootstrap` as an operator calls it, on a local checkpoint and faked topics; and what takes it up."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.config.config_file import load_config
from pipeline.config.start_position import NewStart, parse_new
from pipeline.driver import query
from pipeline.driver.identity import Identity
from pipeline.errors import RefusedError
from pipeline.ops import bootstrap as module
from pipeline.ops import bootstrap_command, checkpoint_commands
from pipeline.ops.rev_map import read_rev_map
from pipeline.ops.source import SourceTopic
from pipeline.state.initial_state import DIRECTORY
from tests.unit.pipeline.driver.hadoop_files import Files, spark
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row
from tests.unit.pipeline.ops.places import NOW, checkpoint_at, contents, recorded

# 2026-01-01T00:00:00Z, and a record in each second from there on.
BEGIN_MS = 1_767_225_600_000
SINCE = "2026-01-01T00:00:07Z"
TOPICS = ("edits", "deletes")
ROWS = {
    "edits": [Row(partition, offset, BEGIN_MS + offset * 1000) for partition in range(2) for offset in range(25)],
    "deletes": [Row(0, offset, BEGIN_MS + offset * 1000) for offset in range(5)],
}
"""Nothing in `deletes` is as late as `SINCE`."""
STARTS = {"edits": {0: 7, 1: 7}, "deletes": {0: 5, 1: 0}}


@dataclass
class Operator:
    directory: Path
    monkeypatch: pytest.MonkeyPatch
    first: dict[int, int]

    @property
    def checkpoint(self) -> Path:
        return self.directory / "checkpoint"

    @property
    def config_file(self) -> Path:
        return self.directory / "pipeline.yaml"

    def __call__(self, *arguments: str, **config: Any) -> Result:
        @contextmanager
        def opened(_bootstrap: str, topic: str) -> Iterator[SourceTopic]:
            yield FakeConsumer(ROWS[topic], partitions=2, first=self.first, topic=topic).as_topic()

        self.monkeypatch.setattr(checkpoint_commands, "opened_topic", opened)
        for commands in (checkpoint_commands, bootstrap_command):
            self.monkeypatch.setattr(commands, "cluster_id", {"broker:9092": "c1"}.__getitem__)
        self.monkeypatch.setattr(bootstrap_command, "source_ids", lambda _: {"edits": "e1"})
        source = {"bootstrap_servers": "broker:9092", "topics": list(TOPICS)}
        document: dict[str, Any] = {
            "job": "rdf-decide",
            "source": source,
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": str(self.checkpoint),
        }
        self.config_file.write_bytes(orjson.dumps(document | config))
        return CliRunner().invoke(main, [*arguments, "--config", str(self.config_file)])

    def bootstrap(
        self, text: str = "Q42,123\nQ7,9\nL3,4\n", *options: str, since: str = SINCE, **config: Any
    ) -> Result:
        file = self.directory / "rev_map.csv"
        file.write_text(text)
        return self("bootstrap", "--revisions", str(file), "--from", since, *options, **config)

    def start(self, new: NewStart | None = None) -> Any:
        """What a start of the job finds."""
        config = load_config(self.config_file)
        return query._take_checkpoint(spark(Files()), config, new, Identity.of(config, "c1", {"edits": "e1"}), slots=3)


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Operator:
    return Operator(tmp_path, monkeypatch, {})


def entities(checkpoint: Path) -> dict[str, int]:
    found = {}
    for file in sorted((checkpoint / DIRECTORY).iterdir()):
        table = pq.read_table(io.BytesIO(file.read_bytes()))
        found |= dict(zip(table["entity"].to_pylist(), table["last"].to_pylist(), strict=True))
    return found


def test_what_is_written(operator: Operator) -> None:
    result = operator.bootstrap()
    assert result.exit_code == 0, result.output
    assert entities(operator.checkpoint) == {"Q42": 123, "Q7": 9, "L3": 4}
    assert checkpoint_at(operator.checkpoint).committed() == STARTS
    assert set(contents(operator.checkpoint)) == {"job.json", "sources/0/0", f"{DIRECTORY}/part-00000.parquet"}
    mark = orjson.loads((operator.checkpoint / "job.json").read_bytes())
    assert mark["bootstrap"] == {"entities": 3, "files": 1, "since_ms": BEGIN_MS + 7000}
    assert (mark["job"], mark["cluster"], mark["source_ids"], mark["state"]) == (
        "rdf-decide",
        "c1",
        {"edits": "e1"},
        None,
    )


def test_what_is_printed(operator: Operator) -> None:
    lines = operator.bootstrap("Q42,123\nQ7,9\nQ42,123\n").stdout.splitlines()
    assert lines[0] == f"checkpoint  {operator.checkpoint}"
    assert lines[1].startswith("entities    2 in 1 file, ")
    assert lines[1].endswith(" bytes; 1 repeated line left out")
    assert lines[2] == f"events      since {SINCE}"
    assert [line.split() for line in lines[4:8]] == [
        ["edits", "0", "7", "25", "18"],
        ["edits", "1", "7", "25", "18"],
        ["deletes", "0", "5", "5", "0"],
        ["deletes", "1", "0", "0", "0"],
    ]
    assert lines[8] == f"next: run rdf-decide --config {operator.config_file}, without --new"


@pytest.mark.parametrize("options", [["--dry-run"], []], ids=["dry run", "written"])
def test_it_is_one_object_too(operator: Operator, options: list[str]) -> None:
    shown = orjson.loads(operator.bootstrap("Q42,123\nQ7,9\nQ42,123\n", "--json", *options).stdout)
    assert (shown["entities"], shown["repeated"], shown["files"]) == (2, 1, 1)
    assert shown["since"] == "2026-01-01T00:00:07+00:00"
    assert shown["topics"]["edits"] == [{"partition": number, "start": 7, "end": 25} for number in range(2)]
    assert shown["written"] is not bool(options)
    assert operator.checkpoint.exists() is not bool(options)


def test_a_dry_run_writes_nothing(operator: Operator) -> None:
    result = operator.bootstrap("Q42,123\n", "--dry-run")
    assert result.stdout.splitlines()[1] == "entities    1 in 1 file"
    assert result.stdout.splitlines()[-1] == "nothing is written"
    assert not operator.checkpoint.exists()


def test_many_entities_are_several_files(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FILE_ROWS", 10)
    text = "".join(f"Q{number},{number * 2}\n" for number in range(1, 26))
    assert "entities    25 in 3 files, " in operator.bootstrap(text).stdout
    assert entities(operator.checkpoint) == {f"Q{number}": number * 2 for number in range(1, 26)}
    (operator.checkpoint / DIRECTORY / "part-00001.parquet").unlink()
    with pytest.raises(RefusedError, match="initial-state/ holds 2 files, and the bootstrap wrote 3: restore it"):
        operator.start()
    assert "initial-state/ holds 2 files" in operator("checkpoint", "verify").stdout


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a time without a zone": ({"since": "2026-01-01T00:00:07"}, "'2026-01-01T00:00:07' has no time zone"),
    "no time": ({"since": "yesterday"}, "'yesterday' is no moment"),
    "a time to come": ({"since": "2126-01-01T00:00:00Z"}, "is in the future"),
    "a broken line": ({"text": "Q1,1\nQ2;2\n"}, "rev_map.csv:2: 'Q2;2' is not entity,revision"),
    "two revisions": ({"text": "Q1,1\nQ1,2\n"}, "rev_map.csv:2: revision 2 of Q1, and an earlier line says 1"),
    "no entity": ({"text": ""}, "no entity in any of the files"),
    "another job": ({"job": "rdf-resolve"}, "the job rdf-resolve has no state of entities"),
    "another kind of place": ({"checkpoint": "hdfs://here/there"}, "hdfs:// cannot be read from here"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_writes_nothing(operator: Operator, name: str) -> None:
    changes, why = REFUSED[name]
    result = operator.bootstrap(**changes)
    assert result.exit_code == 2, result.output
    assert why in result.stderr
    assert "hint: " in result.stderr
    assert not operator.checkpoint.exists()


def test_retention_is_an_error_and_yes_goes_on_with_what_is_left(operator: Operator) -> None:
    operator.first = {1: 9}
    result = operator.bootstrap()
    assert result.exit_code == 2
    assert "partition 1 begins at offset 9, 2026-01-01T00:00:09Z" in result.stderr
    assert not operator.checkpoint.exists()
    assert operator.bootstrap("Q1,1\n", "--yes").exit_code == 0
    assert checkpoint_at(operator.checkpoint).committed()["edits"] == {0: 7, 1: 9}


def copied(operator: Operator) -> Path:
    """A checkpoint of a job that was written long ago."""
    place = recorded(operator.directory)
    for path in place.rglob("*"):
        os.utime(path, (1, 1))
    return place


TAKEN: dict[str, tuple[Callable[[Operator], Any], str]] = {
    "a job that runs": (lambda one: os.utime(copied(one) / "commits/2"), " s ago: does the job run?\nhint: "),
    "a job that has stopped": (copied, "exists: it holds batch 2 of "),
    "a job with a state": (
        lambda one: (copied(one) / "state").mkdir(),
        " and a state\nhint: a job takes up",
    ),
    "something else": (lambda one: (copied(one) / "more").mkdir(), "is no checkpoint of a job's: it holds more"),
    "a start that failed": (
        lambda one: add(one.checkpoint, "job.json"),
        "exists: it holds job.json and no position, written",
    ),
    "a bootstrap that has not ended": (
        lambda one: add(one.checkpoint, f"{DIRECTORY}/part-00000.parquet"),
        "its bootstrap or copy has not ended",
    ),
    "another bootstrap": (lambda one: one.bootstrap(), "exists: it holds a position, written"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_checkpoint_that_exists_is_left_alone(operator: Operator, name: str) -> None:
    prepare, why = TAKEN[name]
    prepare(operator)
    before = contents(operator.checkpoint)
    result = operator.bootstrap("Q1,1\n")
    assert result.exit_code == 2
    assert why in result.stderr
    assert contents(operator.checkpoint) == before


def add(place: Path, name: str) -> None:
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(b"{}")


def test_the_job_begins_with_it_until_its_first_batch_is_committed(operator: Operator) -> None:
    operator.bootstrap()
    taken = operator.start()
    assert (taken.has_initial_state, taken.adopted, taken.new) == (True, False, None)
    assert taken.own.state.partitions == 3, "what the first start fixes"
    mark = taken.maker.completed(taken.own, None)
    (operator.checkpoint / "job.json").write_text(mark.model_dump_json())
    again = operator.start()
    assert again.has_initial_state
    assert again.own.state == taken.own.state
    plan = '{"batchWatermarkMs":0,"batchTimestampMs":1774000000000,"conf":{}}\n{"edits":{"0":9}}'
    for name, text in (("metadata", '{"id":"x"}'), ("offsets/0", f"v1\n{plan}"), ("state/0/0/1.zip", "")):
        add(operator.checkpoint, name)
        (operator.checkpoint / name).write_text(text)
    assert operator.start().has_initial_state, "the first batch is planned and not committed"
    add(operator.checkpoint, "commits/0")
    (operator.checkpoint / "commits/0").write_text('v1\n{"nextBatchWatermarkMs":0}')
    assert not operator.start().has_initial_state
    (operator.checkpoint / DIRECTORY / "part-00000.parquet").unlink()
    assert not operator.start().has_initial_state, "nothing needs the files any more"


def test_a_volume_without_a_checkpoint_is_unused(operator: Operator) -> None:
    """Of a new one, or behind `rm -r *`: for `bootstrap`, and for a start of the job."""
    for name in ("lost+found", ".snapshot"):
        (operator.checkpoint / name).mkdir(parents=True)
    for name in (".owner", ".job.json.crc"):
        add(operator.checkpoint, name)
    result = operator.bootstrap()
    assert result.exit_code == 0, result.output
    assert not (operator.checkpoint / ".job.json.crc").exists(), "Hadoop would check job.json by it"
    assert operator.start().has_initial_state
    assert operator("checkpoint", "verify").exit_code == 0


def test_a_new_start_does_not_begin_without_it(operator: Operator) -> None:
    operator.bootstrap()
    with pytest.raises(RefusedError, match="exists, and --new earliest would not be obeyed"):
        operator.start(parse_new("earliest", NOW))
    (operator.checkpoint / "sources/0/0").unlink()
    for new in (parse_new("earliest", NOW), None):
        with pytest.raises(RefusedError, match="its bootstrap or copy has not ended"):
            operator.start(new)


def test_the_other_commands_know_it(operator: Operator) -> None:
    operator.bootstrap()
    shown = operator("checkpoint", "show").stdout.splitlines()
    assert shown[-1] == (
        f"bootstrap   3 entities in 1 file, and the events since {SINCE}; its first batch takes them up"
    )
    verified = operator("checkpoint", "verify")
    assert (verified.exit_code, verified.stdout) == (0, f"the job can continue from checkpoint {operator.checkpoint}\n")
    rows = [line.split() for line in operator("lag").stdout.splitlines()]
    assert [row[1] for row in rows if row[0] == "all"] == ["36", "0"]


def test_a_fork_takes_it_along(operator: Operator) -> None:
    operator.bootstrap()
    target = operator.directory / "fork"
    assert operator("checkpoint", "fork", str(target)).exit_code == 0
    assert entities(target) == entities(operator.checkpoint)
    assert operator("checkpoint", "verify", checkpoint=str(target)).exit_code == 0
    assert operator.start().has_initial_state


def test_a_first_batch_without_the_time_is_said(operator: Operator) -> None:
    text = "".join(f"Q{number},1\n" for number in range(1, 301))
    quick = operator.bootstrap(text, "--dry-run")
    assert "stall_timeout" not in quick.stdout
    slow = operator.bootstrap(text, "--dry-run", stall_timeout="100ms", deferral={"policy": "none"})
    assert "for about 0 s on 1 core: stall_timeout is 0.1 s, set it to several times that" in slow.stdout


def written(place: Path, *texts: str) -> list[Path]:
    files = [place / f"{number}.csv" for number in range(1, len(texts) + 1)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, newline="")
    return files


MAPS: dict[str, tuple[tuple[str, ...], dict[str, int], int]] = {
    "one file": (("Q42,123\nP31,7\n",), {"Q42": 123, "P31": 7}, 0),
    "no end of the last line": (("Q42,123",), {"Q42": 123}, 0),
    "lines as on Windows": (("L1,5\r\nM2,6\r\n",), {"L1": 5, "M2": 6}, 0),
    "parts, one of which is empty": (("Q1,1\n", "", "Q2,2\n"), {"Q1": 1, "Q2": 2}, 0),
    "a line that stands again": (("Q1,1\nQ2,2\n", "Q1,1\n"), {"Q1": 1, "Q2": 2}, 1),
    "the largest revision": ((f"Q1,{2**63 - 1}\n",), {"Q1": 2**63 - 1}, 0),
}


@pytest.mark.parametrize("name", MAPS)
def test_entities_and_their_revisions(tmp_path: Path, name: str) -> None:
    texts, revisions, repeated = MAPS[name]
    read = 0

    def advance(size: int) -> None:
        nonlocal read
        read += size

    rev_map = read_rev_map(written(tmp_path, *texts), advance)
    assert (rev_map.revisions, rev_map.repeated) == (revisions, repeated)
    assert read == sum(map(len, texts))


REFUSED_MAPS: dict[str, tuple[tuple[str, ...], str]] = {
    "a header": (("entity,revision\nQ1,1\n",), "1.csv:1: 'entity' is no entity's id"),
    "a line without a revision": (("Q1,1\nQ2\n",), "1.csv:2: 'Q2' is not entity,revision"),
    "an empty line": (("Q1,1\n", "Q2,2\n\nQ3,3\n"), "2.csv:2: '' is not entity,revision"),
    "three values": (("Q1,1,2\n",), "1.csv:1: 'Q1,1,2' is not entity,revision"),
    "quotes": (('"Q1",1\n',), """1.csv:1: '"Q1"' is no entity's id"""),
    "an IRI": (("http://www.wikidata.org/entity/Q1,1\n",), "'http://www.wikidata.org/entity/Q1' is no entity's id"),
    "a form of a lexeme": (("L1-F1,1\n",), "'L1-F1' is no entity's id"),
    "an id that begins with 0": (("Q01,1\n",), "'Q01' is no entity's id"),
    "no number": (("Q1,one\n",), "1.csv:1: 'one' is no revision of Q1: not a number from 1 to 9223372036854775807"),
    "an empty revision": (("Q1,\n",), "'' is no revision of Q1"),
    "revision 0": (("Q1,0\n",), "'0' is no revision of Q1"),
    "a negative revision": (("Q1,-5\n",), "'-5' is no revision of Q1"),
    "a revision of another script": (("Q1,٣\n",), "'٣' is no revision of Q1"),
    "more than a long": ((f"Q1,{2**63}\n",), "'9223372036854775808' is no revision of Q1"),
    "two revisions": (("Q1,1\n", "Q2,2\nQ1,3\n"), "2.csv:2: revision 3 of Q1, and an earlier line says 1"),
    "nothing": (("", ""), "--revisions: no entity in any of the files"),
}


@pytest.mark.parametrize("name", REFUSED_MAPS)
def test_what_is_refused_is_named_with_file_line_and_value(tmp_path: Path, name: str) -> None:
    texts, why = REFUSED_MAPS[name]
    with pytest.raises(RefusedError) as refused:
        read_rev_map(written(tmp_path, *texts))
    assert why in str(refused.value)
    assert refused.value.hint


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"--revisions .*none.csv: cannot be read: No such file"):
        read_rev_map([tmp_path / "none.csv"])


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(b"Q1,1\n\xff\xfe,2\n")
    with pytest.raises(RefusedError, match=r"1.csv:2: '..' is no entity's id"):
        read_rev_map([tmp_path / "1.csv"])
