"""What Spark, or the planner in its place, is told to read, and what of the source ends the job."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from kafka.errors import KafkaConnectionError

from pipeline.aligned import start_offsets
from pipeline.aligned.plan_status import PlanStatus, write_status
from pipeline.aligned.spark_source import FORMAT, AlignedOptions, AlignedSource
from pipeline.config.start_position import NewStart
from pipeline.driver import source_stream as module
from pipeline.driver.refused_offset import unless_kept
from pipeline.driver.source_stream import SourceWatch
from pipeline.errors import PositionGoneError, RefusedError, TimestampBeyondSparkError
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.conftest import MakeConfig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
REFUSED = (
    "query failed: org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position "
    "FetchPosition{offset=20, offsetEpoch=Optional.empty, "
    "currentLeader=LeaderAndEpoch{leader=Optional[here:1 (id: 1 rack: null)], epoch=0}} is "
    "out of range for partition wiki.page-change-1"
)
HERE = SourcePartition("wiki.page-change", 1)


@pytest.mark.parametrize(
    ("source", "option", "value"),
    [
        ({"topic": "a"}, "subscribe", "a"),
        ({"topics": ["a", "b"]}, "subscribe", "a,b"),
        # That it then reads no event of an aborted transaction is in the integration tests.
        ({}, "kafka.isolation.level", "read_committed"),
        ({}, "includeHeaders", None),
        ({"pass_headers": ["traceparent"]}, "includeHeaders", "true"),
    ],
    ids=["its topic", "all its topics", "what is committed", "no headers", "headers that are passed on"],
)
def test_what_spark_reads(make_config: MakeConfig, source: dict[str, Any], option: str, value: str | None) -> None:
    assert module.source_options(make_config(source=source), None).get(option) == value


class Stream:
    """What is said to Spark's reader, and the class that it was told of."""

    def __init__(self, temp_dir: str = "/of/spark") -> None:
        self.options_: dict[str, Any] = {}
        self.kind = ""
        self.registered: list[type] = []
        self.dataSource = SimpleNamespace(register=self.registered.append)
        self.sparkContext = SimpleNamespace(_temp_dir=temp_dir)

    @property
    def readStream(self) -> "Stream":  # noqa: N802 — Spark's name
        return self

    @property
    def settings(self) -> AlignedOptions:
        return AlignedOptions.model_validate_json(self.options_["settings"])

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


class Streams(Stream):
    """As many as are asked for."""

    @property
    def readStream(self) -> Stream:  # noqa: N802 — Spark's name
        return Stream()


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
    make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    offsets = {SourcePartition("a", 0): 7, SourcePartition("b", 0): 3}
    monkeypatch.setattr(start_offsets, "first_offsets", lambda *_: offsets)
    spark, again = Stream(), Stream()
    config = make_config(source=ALIGNED, batch={"max_offsets": 50})
    module.source_stream(cast("SparkSession", spark), config, NEW)
    assert files == {"sources/0/0": '\0v1\n{"a":{"0":7},"b":{"0":3}}'}, "as Spark's own source writes it"
    settings = spark.settings
    assert (spark.kind, spark.registered) == (FORMAT, [AlignedSource])
    assert (settings.topics, settings.slice_ms, settings.max_offsets) == (("a", "b"), 5000, 50)
    assert settings.initial == {"a": {"0": 7}, "b": {"0": 3}}
    assert settings.status_file == Path("/of/spark/plan-status.json")
    monkeypatch.setattr(start_offsets, "first_offsets", lambda *_: pytest.fail("a restart begins nowhere else"))
    module.source_stream(cast("SparkSession", again), config, None)
    assert again.options_ == spark.options_
    files.clear()
    module.source_stream(cast("SparkSession", again), config, None)
    assert again.settings.initial is None, "a copy of a checkpoint need not say where the job began"


@pytest.mark.parametrize(
    ("delay_ms", "watermark", "reached_ms"),
    [(30_000, 1774000000000, 1_774_000_030_000), (30_000, None, None), (None, 1774000000000, None)],
)
@pytest.mark.parametrize("streams", ["one", "one for each topic"])
def test_the_planner_is_told_what_the_watermark_has_seen(
    make_config: MakeConfig,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    streams: str,
    delay_ms: int | None,
    watermark: int | None,
    reached_ms: int | None,
) -> None:
    monkeypatch.setattr(module, "watermark_ms", lambda _spark, _place: watermark)
    spark = Stream()
    read = module.source_stream if streams == "one" else module.source_streams
    read(cast("SparkSession", spark), make_config(source=ALIGNED), None, delay_ms)
    assert spark.settings.reached_ms == reached_ms


def test_the_driver_reads_what_the_planner_has_written(make_config: MakeConfig, tmp_path: Path) -> None:
    spark, config = cast("SparkSession", Stream(str(tmp_path))), make_config(source=ALIGNED)
    planned, place = module.plan_status(spark, config), module.plan_status_file(spark, config)
    assert planned is not None
    assert place is not None
    assert planned() is None, "before the first plan"
    status = PlanStatus(at_s=1.5, common_ms=7, partitions=())
    write_status(place, status)
    assert planned() == status
    assert module.plan_status(spark, make_config()) is None, "Spark's own source has no planner"


def test_sparks_own_source_is_left_to_itself(make_config: MakeConfig, files: dict[str, str]) -> None:
    spark: Any = Stream()
    config = make_config()
    module.source_stream(spark, config, NEW)
    assert (spark.kind, spark.registered, files) == ("kafka", [], {})
    assert spark.options_ == module.source_options(config, NEW)
    assert module.trigger_seconds(config) == 0
    assert 0 < module.trigger_seconds(make_config(source=ALIGNED)) < 1


def test_what_spark_cannot_read_is_read_without_it_from_the_next_start_on(
    make_config: MakeConfig, files: dict[str, str]
) -> None:
    config = make_config(source={"topics": ["a", "b"]}, batch={"max_offsets": 50})
    spark: Any = Streams()
    by_spark: Any = [module.source_stream(spark, config, None), *module.source_streams(spark, config, None)]
    assert [stream.kind for stream in by_spark] == ["kafka"] * 3
    files |= {"sources/0/0": 'v1\n{"a":{"0":7}}', "sources/1/0": 'v1\n{"b":{"0":3}}'}
    module.note_beyond_spark(spark, config, TimestampBeyondSparkError("a/0/9", "9" * 19))
    assert files[module.BEYOND_SPARK] == "a/0/9"
    streams: Any = [module.source_stream(spark, config, None), *module.source_streams(spark, config, None)]
    assert [stream.kind for stream in streams] == [FORMAT] * 3
    settings = [stream.settings for stream in streams]
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


@pytest.mark.parametrize(
    ("text", "bounds", "exit_code"),
    [
        pytest.param(REFUSED, {HERE: (10, 30)}, 1, id="the topic has it"),
        pytest.param(REFUSED, {HERE: (20, 20)}, 1, id="it is where the topic ends"),
        pytest.param(REFUSED, {HERE: (21, 30)}, 2, id="retention has deleted it"),
        pytest.param(REFUSED, {HERE: (0, 19)}, 2, id="the topic was made again, and is shorter"),
        pytest.param(REFUSED, {}, 2, id="the partition is not there"),
        pytest.param("query failed: 10 events are lost", {HERE: (10, 30)}, 2, id="another text"),
    ],
)
def test_what_a_refused_offset_means(
    text: str, bounds: Mapping[SourcePartition, tuple[int, int]], exit_code: int
) -> None:
    assert unless_kept(PositionGoneError(text), lambda: bounds).exit_code == exit_code


def test_without_an_answer_it_is_gone() -> None:
    error = PositionGoneError(REFUSED)

    def bounds() -> Mapping[SourcePartition, tuple[int, int]]:
        raise KafkaConnectionError

    assert unless_kept(error, bounds) is error
