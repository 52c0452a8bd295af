"""The position of a job, as its checkpoint has it."""

from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError

from pipeline.deferral.fold import FencedError
from pipeline.driver.job_checkpoint import (
    OWNER_FILE,
    Ownership,
    committed_offsets,
    read_content,
    replayed_from,
    watermark_ms,
    write_text,
)
from pipeline.errors import RefusedError
from tests.unit.pipeline.driver.hadoop_files import Files, spark

OFFSETS = """v1
{"batchWatermarkMs":0,"batchTimestampMs":1774000000000,"conf":{}}
{"page_change":{"0":%d,"1":4}}
"""


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    for part in ("offsets", "commits", "sources/0"):
        (tmp_path / part).mkdir(parents=True)
    return tmp_path


def test_the_last_committed_batch_says_the_position(checkpoint: Path) -> None:
    """And not a batch that is only planned."""
    for batch in (9, 10, 11):
        (checkpoint / "offsets" / str(batch)).write_text(OFFSETS % batch)
    for batch in (9, 10):
        (checkpoint / "commits" / str(batch)).touch()
    files = Files()
    assert committed_offsets(spark(files), str(checkpoint)) == {("page_change", 0): 10, ("page_change", 1): 4}
    assert [stream.closed for stream in files.opened] == [True]


def test_the_watermark_is_that_of_the_batch_that_runs_next(checkpoint: Path) -> None:
    """One that is planned has its own, whatever a later commit would say."""

    def watermark() -> int | None:
        return watermark_ms(spark(Files()), str(checkpoint))

    assert watermark() is None, "no batch is planned"
    (checkpoint / "offsets/0").write_text(OFFSETS % 5)
    assert watermark() is None, "nothing has moved it"
    (checkpoint / "commits/0").write_text('v1\n{"nextBatchWatermarkMs":1773999970000}')
    assert watermark() == 1773999970000
    (checkpoint / "offsets/1").write_text(OFFSETS.replace('WatermarkMs":0', 'WatermarkMs":1773999970001') % 9)
    assert watermark() == 1773999970001
    (checkpoint / "commits/1").write_text("v1\n{}")
    assert watermark() is None, "what is none of Spark's it will refuse itself"


def test_before_any_commit_it_is_where_the_job_began(checkpoint: Path) -> None:
    (checkpoint / "offsets" / "0").write_text(OFFSETS % 5)
    (checkpoint / "sources/0/0").write_text('\0v1\n{"page_change":{"0":0,"1":3}}')
    assert committed_offsets(spark(Files()), f"{checkpoint}/") == {("page_change", 0): 0, ("page_change", 1): 3}


def test_two_topics_keep_their_own_positions(checkpoint: Path) -> None:
    (checkpoint / "sources/0/0").write_text('\0v1\n{"page_change":{"0":7},"page_links":{"0":3}}')
    assert committed_offsets(spark(Files()), str(checkpoint)) == {("page_change", 0): 7, ("page_links", 0): 3}


def test_it_does_not_matter_which_source_wrote_the_offsets(checkpoint: Path) -> None:
    """A Python source's are written with spaces."""
    text = OFFSETS.rsplit("\n", 2)[0] + '\n{"page_change": {"0": 9, "1": 4}, "page_links": {"0": 3}}'
    (checkpoint / "offsets" / "0").write_text(text)
    (checkpoint / "commits" / "0").touch()
    expected = {("page_change", 0): 9, ("page_change", 1): 4, ("page_links", 0): 3}
    assert committed_offsets(spark(Files()), str(checkpoint)) == expected
    assert read_content(spark(Files()), str(checkpoint)).spark.topics == ["page_change", "page_links"]


def test_a_job_that_unites_streams_has_a_line_for_each(checkpoint: Path) -> None:
    lines = OFFSETS.rsplit("\n", 2)[0] + '\n{"page_change":{"0":9}}\n-\n{"page_links":{"0":3}}\n'
    (checkpoint / "offsets" / "0").write_text(lines)
    (checkpoint / "commits" / "0").touch()
    assert committed_offsets(spark(Files()), str(checkpoint)) == {("page_change", 0): 9, ("page_links", 0): 3}
    assert read_content(spark(Files()), str(checkpoint)).spark.topics == ["page_change", "page_links"]


def test_before_the_first_plan_there_is_no_position(checkpoint: Path) -> None:
    assert committed_offsets(spark(Files()), str(checkpoint)) is None


def test_what_lies_at_the_top_of_a_checkpoint(checkpoint: Path) -> None:
    found = read_content(spark(Files()), f"{checkpoint}/")
    assert (sorted(found.spark.entries), found.identity, found.spark.has_position) == (
        ["commits", "offsets", "sources"],
        None,
        False,
    )


def test_where_nothing_lies_nothing_more_is_asked(tmp_path: Path) -> None:
    files = Files()
    assert not read_content(spark(files), str(tmp_path / "nowhere")).spark.has_position
    assert files.asked == 1


def test_a_small_file_is_written_over(checkpoint: Path) -> None:
    write_text(spark(Files()), str(checkpoint), "job.json", '{"ä": 1}')
    assert read_content(spark(Files()), str(checkpoint)).identity == '{"ä": 1}'
    write_text(spark(Files()), str(checkpoint), "job.json", "other")
    assert read_content(spark(Files()), str(checkpoint)).identity == "other"


def test_the_topics_are_those_of_the_last_plan_or_of_the_beginning(checkpoint: Path) -> None:
    assert read_content(spark(Files()), str(checkpoint)).spark.topics == []
    (checkpoint / "sources/0/0").write_text('\0v1\n{"earlier":{"0":0}}')
    found = read_content(spark(Files()), str(checkpoint))
    assert (found.spark.topics, found.spark.has_position) == (["earlier"], True)
    for batch in (9, 10):
        (checkpoint / "offsets" / str(batch)).write_text(OFFSETS % 5)
    (checkpoint / "offsets" / "11.tmp").touch()
    found = read_content(spark(Files()), str(checkpoint))
    assert (found.spark.topics, found.spark.batches) == (["page_change"], (9, 10))


def test_a_batch_that_is_planned_and_not_committed_will_be_replayed_from_the_end_of_the_last(checkpoint: Path) -> None:
    assert replayed_from(spark(Files()), str(checkpoint)) is None
    for batch in (9, 10):
        (checkpoint / "offsets" / str(batch)).write_text(OFFSETS % batch)
    (checkpoint / "commits" / "9").touch()
    assert replayed_from(spark(Files()), str(checkpoint)) == {("page_change", 0): 9, ("page_change", 1): 4}
    (checkpoint / "commits" / "10").touch()
    assert replayed_from(spark(Files()), str(checkpoint)) is None


def test_where_events_leave_later_than_they_are_read_no_offset_is_before_the_replayed_batch(checkpoint: Path) -> None:
    for batch in (9, 10):
        (checkpoint / "offsets" / str(batch)).write_text(OFFSETS % batch)
    (checkpoint / "commits" / "9").touch()
    assert replayed_from(spark(Files()), str(checkpoint), leaves_later=True) == {}
    (checkpoint / "commits" / "10").touch()
    assert replayed_from(spark(Files()), str(checkpoint), leaves_later=True) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [(f"v1\n{{}}\n{last}\n", "is not in the form") for last in ("no json", "5", "[1]", '{"a": 5}')]
    + [("", "it begins with ''"), ("v1\n", "it breaks off")],
)
def test_a_file_that_is_not_sparks_is_refused(checkpoint: Path, text: str, why: str) -> None:
    (checkpoint / "offsets" / "0").write_text(text)
    with pytest.raises(RefusedError, match=f"offsets/0 .*{why}"):
        read_content(spark(Files()), str(checkpoint))


class DownFiles(Files):
    error: Exception = Py4JError("the store is down")

    def exists(self, path: Path) -> bool:
        raise self.error


def start(place: Path, files: Files | None = None) -> Ownership:
    return Ownership(spark(files or Files()), str(place))


def test_the_later_start_has_it(tmp_path: Path) -> None:
    older, newer = start(tmp_path), start(tmp_path)
    older.take()
    older.check()
    newer.take()
    newer.check()
    for asked in (older.check, older.check_if_reachable):
        with pytest.raises(FencedError, match="another start of this job has taken checkpoint") as fenced:
            asked()
        assert fenced.value.exit_code == 2


def test_who_removed_the_file_took_nothing(tmp_path: Path) -> None:
    owner = start(tmp_path)
    owner.take()
    (tmp_path / OWNER_FILE).unlink()
    owner.check()


def test_a_store_that_is_down_matters_before_a_write_alone(tmp_path: Path) -> None:
    owner: Any = start(tmp_path, DownFiles())
    owner.check_if_reachable()
    with pytest.raises(Py4JError):
        owner.check()


def test_of_a_jvm_that_is_gone_nothing_can_be_asked(tmp_path: Path) -> None:
    """py4j lets the operating system's own error through."""
    files = DownFiles()
    files.error = ConnectionRefusedError(111, "Connection refused")
    start(tmp_path, files).check_if_reachable()
