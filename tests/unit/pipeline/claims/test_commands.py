"""What `claims sweep` says and does, with a bucket and a topic in memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.claims import commands
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.records.claim_check import store_client
from pipeline.records.record import Headers
from tests.unit.pipeline.claims.conftest import Bucket, Topic, naming
from tests.unit.pipeline.least_config import write_config

OUTPUT = "mediawiki.page_html_content_change.v1"
Sweep = Callable[..., Result]


@pytest.fixture
def topics() -> dict[str, Topic]:
    return {OUTPUT: Topic(OUTPUT, [()])}


@pytest.fixture
def sweep(tmp_path: Path, bucket: Bucket, topics: dict[str, Topic], monkeypatch: pytest.MonkeyPatch) -> Sweep:
    @contextmanager
    def opened(bootstrap: str, name: str, *, named_by: str, uncommitted: bool) -> Iterator[Topic]:
        assert (bootstrap, uncommitted) == ("sink:1", True)
        assert named_by == ("`sink` in the job's file" if name == OUTPUT else "--also")
        yield topics[name]

    monkeypatch.setattr(commands, "opened_topic", opened)
    monkeypatch.setattr(commands, "store_client", lambda _: bucket)
    file = write_config(tmp_path, sink={"bootstrap_servers": "sink:1"})

    def go(*arguments: str, age: str = "30d") -> Result:
        return CliRunner().invoke(main, ["claims", "sweep", "--config", str(file), "--older-than", age, *arguments])

    return go


def test_orphans_go_and_what_is_young_or_named_stays(sweep: Sweep, bucket: Bucket, topics: dict[str, Topic]) -> None:
    orphan, named, young = bucket.put(b"12"), bucket.put(b"345"), bucket.put(b"6", datetime.now(UTC))
    topics[OUTPUT].headers = [(), naming(named)]
    done = sweep()
    assert done.exit_code == 0, done.output
    assert set(bucket.objects) == {named, young}
    lines = done.output.splitlines()
    assert "claim-checks/html-enrichment: 3 claim checks of 6 bytes, of which 2 claim checks of 5 bytes" in lines[0]
    assert lines[1:] == [
        f"reading {OUTPUT}: 2 offsets in 1 partitions",
        f"{OUTPUT}: 2 records, of which 1 name a claim check",
        f"removing {orphan}, 2 bytes",
        "1 claim checks of 2 bytes removed, 1 older ones stay",
    ]


def test_a_dry_run_removes_nothing(sweep: Sweep, bucket: Bucket) -> None:
    orphan = bucket.put(b"12")
    done = sweep("--dry-run")
    assert done.exit_code == 0
    assert list(bucket.objects) == [orphan]
    assert f"would remove {orphan}, 2 bytes" in done.output
    assert "1 claim checks of 2 bytes would be removed" in done.output


def test_other_topics_count_when_they_are_named_and_the_output_once(
    sweep: Sweep, bucket: Bucket, topics: dict[str, Topic]
) -> None:
    key = bucket.put(b"12")
    topics["codfw.out"] = Topic("codfw.out", [naming(key)])
    done = sweep("--also", "codfw.out", "--also", OUTPUT)
    assert (done.exit_code, done.output.count(f"reading {OUTPUT}")) == (0, 1)
    assert list(bucket.objects) == [key]


def test_nothing_is_read_where_nothing_is_old(sweep: Sweep, bucket: Bucket, topics: dict[str, Topic]) -> None:
    bucket.put(b"1", datetime.now(UTC))
    bucket.objects["html-enrichment/README"] = b"", datetime.now(UTC)
    topics.clear()
    done = sweep()
    assert done.exit_code == 0
    assert "1 objects are no claim checks and stay" in done.output
    assert done.output.endswith("nothing to remove\n")


@pytest.mark.parametrize(
    ("age", "headers", "message"),
    [
        ("30", [()], "--older-than: no unit (got '30'); write 30s"),
        ("59m", [()], "--older-than 59m is less than 1h"),
        ("ages", [()], "not a duration (got 'ages')"),
        ("99999999d", [()], "--older-than 99999999d is longer than any store has been there"),
        ("30d", [], f"topic {OUTPUT} is empty"),
    ],
)
def test_a_sweep_that_could_remove_too_much_is_refused(
    sweep: Sweep, bucket: Bucket, topics: dict[str, Topic], age: str, headers: list[Headers], message: str
) -> None:
    key = bucket.put(b"12")
    topics[OUTPUT].headers = headers
    done = sweep(age=age)
    assert (done.exit_code, list(bucket.objects)) == (2, [key])
    assert message in done.stderr


def test_a_store_that_cannot_be_asked(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    unusable = ClaimCheck(region="eu west")
    monkeypatch.setattr(commands, "store_client", lambda _: store_client(unusable))
    done = sweep()
    assert done.exit_code == 2
    assert "error: bucket claim-checks: its store cannot be asked: " in done.stderr
    assert "'eu west'" in done.stderr


def test_a_store_that_is_down(sweep: Sweep, bucket: Bucket) -> None:
    bucket.down = True
    done = sweep()
    assert done.exit_code == 1
    assert "does not answer" in done.stderr
