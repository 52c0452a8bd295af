from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from pipeline.aligned import start_offsets
from pipeline.aligned.plan_status import PlanStatus, write_status
from pipeline.aligned.spark_source import FORMAT, AlignedOptions, AlignedSource
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart
from pipeline.driver import source_stream as module
from pipeline.driver.source_stream import SourceWatch
from pipeline.errors import RefusedError, TimestampBeyondSparkError
from pipeline.records.record import SourcePartition


def test_spark_reads_every_topic_of_the_source(make_config: Callable[..., PipelineConfig]) -> None:
    assert module.source_options(make_config(source={"topic": "a"}), None)["subscribe"] == "a"
    assert module.source_options(make_config(source={"topics": ["a", "b"]}), None)["subscribe"] == "a,b"


def test_spark_reads_what_is_committed(make_config: Callable[..., PipelineConfig]) -> None:
    """That it then reads no event of an aborted transaction is in the integration tests."""
    assert module.source_options(make_config(), None)["kafka.isolation.level"] == "read_committed"


def test_spark_reads_headers_only_where_some_are_passed_on(make_config: Callable[..., PipelineConfig]) -> None:
    assert "includeHeaders" not in module.source_options(make_config(), None)
    passing = make_config(source={"pass_headers": ["traceparent"]})
    assert module.source_options(passing, None)["includeHeaders"] == "true"


class Stream:
    """What is said to Spark's reader, and the class that it was told of."""

    def __init__(self) -> None:
        self.options_: dict[str, Any] = {}
        self.kind = ""
        self.registered: list[type] = []
        self.dataSource = SimpleNamespace(register=self.registered.append)
        self.sparkContext = SimpleNamespace(_temp_dir="/of/spark")

    @property
    def readStream(self) -> "Stream":  # noqa: N802 — Spark's name
        return self

    def format(self, kind: str) -> "Stream":
        self.kind = kind
        return self

    def option(self, name: str, value: str) -> "Stream":
        return self.options(**{name: value})

    def options(self, **more: Any) -> "Stream":
        self.options_ |= more
        return self

    def load(self) -> "Stream":
        return self

    def selectExpr(self, *columns: str) -> "Stream":  # noqa: N802 — Spark's name
        assert columns[0] == "* EXCEPT (timestamp)"
        assert columns[1].endswith("AS timestamp")
        return self


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The checkpoint's, by name."""
    made: dict[str, str] = {}
    monkeypatch.setattr(module, "read_text", lambda _spark, _place, name: made.get(name))
    monkeypatch.setattr(module, "write_text", lambda _spark, _place, name, text: made.update({name: text}))
    return made


ALIGNED = {"topics": ["a", "b"], "read": "aligned", "slice": "5s"}
NEW = NewStart("latest", {"startingOffsets": "latest"})


def test_a_new_start_is_in_the_checkpoint_before_the_query_begins(
    make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    offsets = {SourcePartition("a", 0): 7, SourcePartition("b", 0): 3}
    monkeypatch.setattr(start_offsets, "first_offsets", lambda *_: offsets)
    spark: Any = Stream()
    config = make_config(source=ALIGNED, batch={"max_offsets": 50})
    module.source_stream(spark, config, NEW)
    assert files == {"sources/0/0": '\0v1\n{"a":{"0":7},"b":{"0":3}}'}, "as Spark's own source writes it"
    settings = AlignedOptions.model_validate_json(spark.options_["settings"])
    assert (spark.kind, spark.registered) == (FORMAT, [AlignedSource])
    assert (settings.topics, settings.slice_ms, settings.max_offsets) == (("a", "b"), 5000, 50)
    assert settings.initial == {"a": {"0": 7}, "b": {"0": 3}}
    assert settings.status_file == Path("/of/spark/plan-status.json")
    monkeypatch.setattr(start_offsets, "first_offsets", lambda *_: pytest.fail("a restart begins nowhere else"))
    again: Any = Stream()
    module.source_stream(again, config, None)
    assert again.options_ == spark.options_


def test_a_copy_of_a_checkpoint_need_not_say_where_the_job_began(
    make_config: Callable[..., PipelineConfig],
    files: dict[str, str],
) -> None:
    spark: Any = Stream()
    module.source_stream(spark, make_config(source=ALIGNED), None)
    assert orjson.loads(spark.options_["settings"])["initial"] is None


@pytest.mark.parametrize(
    ("delay_ms", "commits", "reached_ms"),
    [(30_000, "1774000000000", 1_774_000_030_000), (30_000, "0", None), (None, "1774000000000", None)],
)
def test_the_planner_is_told_what_the_watermark_has_seen(
    make_config: Callable[..., PipelineConfig],
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    delay_ms: int | None,
    commits: str,
    reached_ms: int | None,
) -> None:
    monkeypatch.setattr(module, "watermark_ms", lambda _spark, _place: int(commits) or None)
    for stream in (module.source_stream, lambda *given: module.source_streams(*given)[0]):
        spark: Any = Stream()
        stream(spark, make_config(source=ALIGNED), None, delay_ms)
        assert orjson.loads(spark.options_["settings"])["reached_ms"] == reached_ms


def test_the_driver_reads_what_the_planner_has_written(
    make_config: Callable[..., PipelineConfig], tmp_path: Path
) -> None:
    spark: Any = Stream()
    spark.sparkContext._temp_dir = str(tmp_path)
    planned = module.plan_status(spark, make_config(source=ALIGNED))
    assert planned is not None
    assert planned() is None, "before the first plan"
    place = module.plan_status_file(spark, make_config(source=ALIGNED))
    assert place is not None
    status = PlanStatus(at_s=1.5, common_ms=7, partitions=())
    write_status(place, status)
    assert planned() == status
    assert module.plan_status(spark, make_config()) is None, "Spark's own source has no planner"


def test_sparks_own_source_is_left_to_itself(make_config: Callable[..., PipelineConfig], files: dict[str, str]) -> None:
    spark: Any = Stream()
    config = make_config()
    module.source_stream(spark, config, NEW)
    assert (spark.kind, spark.registered, files) == ("kafka", [], {})
    assert spark.options_ == module.source_options(config, NEW)
    assert module.trigger_seconds(config) == 0
    assert 0 < module.trigger_seconds(make_config(source=ALIGNED)) < 1


class Streams(Stream):
    """As many as are asked for."""

    @property
    def readStream(self) -> Stream:  # noqa: N802 — Spark's name
        return Stream()


def test_what_spark_cannot_read_is_read_without_it_from_the_next_start_on(
    make_config: Callable[..., PipelineConfig], files: dict[str, str]
) -> None:
    config = make_config(source={"topics": ["a", "b"]}, batch={"max_offsets": 50})
    spark: Any = Streams()
    assert [
        stream.kind
        for stream in (module.source_stream(spark, config, None), *module.source_streams(spark, config, None))
    ] == ["kafka"] * 3
    files |= {"sources/0/0": 'v1\n{"a":{"0":7}}', "sources/1/0": 'v1\n{"b":{"0":3}}'}
    module.note_beyond_spark(spark, config, TimestampBeyondSparkError("a/0/9", "9" * 19))
    assert files[module.BEYOND_SPARK] == "a/0/9"
    one: Any = module.source_stream(spark, config, None)
    assert one.kind == FORMAT
    streams: Any = [one, *module.source_streams(spark, config, None)]
    settings = [AlignedOptions.model_validate_json(stream.options_["settings"]) for stream in streams]
    assert [(one.topics, one.slice_ms, one.max_offsets, one.initial) for one in settings] == [
        (("a", "b"), None, 50, {"a": {"0": 7}}),
        (("a",), None, 25, {"a": {"0": 7}}),
        (("b",), None, 25, {"b": {"0": 3}}),
    ]
    assert 0 < module.trigger_seconds(config, by_spark=False) < 1
    assert module.source_options(config, None, by_spark=False)["slice_ms"] is None


def test_a_topic_that_was_made_again_ends_the_job() -> None:
    now: dict[str, str] = {"a": "1", "b": "2"}
    watch = SourceWatch({"a": "1", "b": "2"}, lambda: now)
    watch.check()
    now["b"] = "3"
    with pytest.raises(RefusedError, match="id of topic b 2, not 3"):
        watch.check()


@pytest.mark.parametrize("found", [{}, {"a": "1"}], ids=["no answer", "one is deleted"])
def test_what_no_broker_reports_is_no_other_topic(found: Mapping[str, str]) -> None:
    SourceWatch({"a": "1", "b": "2"}, lambda: found).check()
    SourceWatch({}, lambda: {"a": "1"}).check()
