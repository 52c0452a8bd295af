"""The pipeline as a program under test, which shows everything of itself."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest
from pydantic import ValidationError

from devkit.debug.debugger import PATIENCE, Debugger
from devkit.doctor.runtimes import check_class_cache
from devkit.errors import SetupError, UsageError
from devkit.observe.kafka.deferrals import Deferrals
from devkit.programs.places import NOWHERE, Places
from devkit.programs.program_state import ProgramState
from devkit.programs.spark import place as place_module
from devkit.programs.spark.configuration import CONFIG, raw_configuration
from devkit.programs.spark.program import SPARK, SparkKind, SparkProgram
from devkit.programs.spark.view import SparkView
from tests.unit.devkit.programs.context import leaves_of, program_context

PLACES = Places("127.0.0.1:9092", "http://127.0.0.1:8080", "http://127.0.0.1:9000", "s3a://checkpoints/x", "claims")


@pytest.fixture(autouse=True)
def no_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no class cache, which is the user's, and 200 MB to read."""
    monkeypatch.setattr(place_module, "_classpath", lambda: "a.jar")
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))


class TestConfiguration:
    def test_is_what_a_scenario_says_and_the_places(self) -> None:
        config = SPARK.configure(PLACES, {"batch": {"max_offsets": 7}}).config
        assert config.batch.max_offsets == 7
        assert config.source.bootstrap_servers == config.sink.bootstrap_servers == "127.0.0.1:9092"
        assert config.mediawiki.endpoint == "http://127.0.0.1:8080"
        assert config.checkpoint == "s3a://checkpoints/x"
        assert (config.claim_check.endpoint, config.claim_check.bucket) == ("http://127.0.0.1:9000", "claims")

    def test_every_place_is_a_key_that_a_scenario_may_not_set(self) -> None:
        places = [value for value in vars(PLACES).values() if isinstance(value, str)]
        assert {path for path, value in leaves_of(raw_configuration(PLACES, {})) if value in places} == set(
            SPARK.given_by_stack
        )

    def test_a_section_that_is_no_mapping_is_not_hidden_by_what_the_stack_gives(self) -> None:
        with pytest.raises(ValidationError, match="sink"):
            SPARK.configure(PLACES, {"sink": 5})

    def test_reads_back_as_it_is_shown(self) -> None:
        configured = SPARK.configure(PLACES, {})
        assert CONFIG.validate_python(configured.effective()).model_dump() == configured.config.model_dump()

    def test_the_job_that_is_named_has_its_own_topics(self) -> None:
        topics = SparkProgram("content-enrichment").configure(PLACES, {}).topics
        assert topics.output == "mediawiki.page_content_change.v1"

    @pytest.mark.parametrize(("policy", "defers"), [("defer", True), ("none", False)])
    def test_whether_it_defers(self, policy: str, defers: bool) -> None:
        assert SPARK.configure(NOWHERE, {"deferral": {"policy": policy}}).topics.defers is defers

    @pytest.mark.parametrize(("metrics", "served"), [({}, False), ({"port": 0}, True)])
    def test_whether_it_serves_metrics(self, metrics: dict[str, Any], served: bool) -> None:
        assert SPARK.configure(NOWHERE, {"metrics": metrics}).serves_metrics is served


class TestKind:
    def test_the_job_may_be_named(self) -> None:
        assert SparkKind().program("") == SPARK
        assert SparkKind().program("content-enrichment") == SparkProgram("content-enrichment")

    def test_a_job_that_is_none(self) -> None:
        with pytest.raises(UsageError, match="no job 'html'") as refused:
            SparkKind().program("html")
        assert "html-enrichment" in str(refused.value.hint)


class TestLaunch:
    """What is started, perhaps for a debugger."""

    def test_the_command_and_its_spark(self, tmp_path: Path) -> None:
        launch = SPARK.configure(NOWHERE, {}).launch(program_context(tmp_path))
        # The incident arm is what the unsafe policies are there for.
        assert launch.argv[-3:] == ("--config", str(tmp_path / "pipeline.yaml"), "--allow-unsafe")
        assert (launch.first.arguments, launch.again.arguments) == (("--new", "earliest"), ())
        assert "spark.master local[4]" in (tmp_path / "spark-conf" / "spark-defaults.conf").read_text()
        assert launch.environment["AWS_REGION"] == "here"

    def test_an_arm_may_begin_elsewhere_than_at_the_beginning(self, tmp_path: Path) -> None:
        launch = SPARK.configure(NOWHERE, {}).launch(program_context(tmp_path, start="latest"))
        assert (launch.first.arguments, launch.again.arguments) == (("--new", "latest"), ())

    @pytest.mark.parametrize(
        ("partitions", "rounds", "policy", "slots"),
        [
            (1, 1, "defer", 4),
            (3, 1, "defer", 4),
            (4, 1, "defer", 5),
            (3, 4, "defer", 7),
            (4, 9, "none", 4),
            (6, 9, "none", 6),
        ],
    )
    def test_each_partition_and_each_slow_round_has_its_slot(
        self, tmp_path: Path, partitions: int, rounds: int, policy: str, slots: int
    ) -> None:
        configured = SPARK.configure(NOWHERE, {"deferral": {"policy": policy, "slow_lane": {"rounds": rounds}}})
        configured.launch(program_context(tmp_path, source_partitions=partitions))
        assert f"spark.master local[{slots}]\n" in (tmp_path / "spark-conf" / "spark-defaults.conf").read_text()

    def test_each_partition_of_each_source_topic_has_its_slot(self, tmp_path: Path) -> None:
        settings = {"source": {"topics": ["a", "b"]}, "deferral": {"policy": "none"}}
        SPARK.configure(NOWHERE, settings).launch(program_context(tmp_path, source_partitions=3))
        assert "spark.master local[6]\n" in (tmp_path / "spark-conf" / "spark-defaults.conf").read_text()

    @pytest.mark.parametrize(
        ("arguments", "memory"),
        [((), "1g"), (("--memory-limit", "6GiB"), None)],
        ids=["the kit's", "the job derives it"],
    )
    def test_what_the_scenario_gives_goes_to_spark(
        self, tmp_path: Path, arguments: tuple[str, ...], memory: str | None
    ) -> None:
        given = {"slots": 2, "spark": {"spark.x": "y"}, "arguments": arguments}
        SPARK.configure(NOWHERE, {}).launch(program_context(tmp_path, **given))
        lines = (tmp_path / "spark-conf" / "spark-defaults.conf").read_text().splitlines()
        settings = dict(line.split(" ", 1) for line in lines)
        assert (settings["spark.master"], settings["spark.x"]) == ("local[2]", "y")
        assert settings.get("spark.driver.memory") == memory

    @pytest.mark.parametrize(("arguments", "is_written"), [((), True), (("--memory-limit", "2GiB"), False)])
    def test_what_the_job_derives_is_not_written_down_as_a_wish(
        self, tmp_path: Path, arguments: tuple[str, ...], is_written: bool
    ) -> None:
        SPARK.configure(NOWHERE, {"fetch": {"concurrency": 7}}).launch(program_context(tmp_path, arguments=arguments))
        written = json.loads((tmp_path / "pipeline.yaml").read_text())
        assert written["fetch"]["concurrency"] == 7
        assert ("max_in_flight_bytes" in written["fetch"]) is is_written
        assert CONFIG.validate_python(written).fetch.concurrency == 7

    def test_for_a_debugger_of_its_worker(self, tmp_path: Path) -> None:
        launch = SPARK.configure(NOWHERE, {}).launch(program_context(tmp_path, debugger=Debugger("worker", 5678)))
        assert launch.environment["DEVKIT_DEBUG_PORT"] == "5678"
        assert "spark.master local[1]" in (tmp_path / "spark-conf" / "spark-defaults.conf").read_text()

    @pytest.mark.parametrize("debugger", [None, Debugger("driver", 1)])
    def test_a_debugged_pipeline_has_time(self, tmp_path: Path, debugger: Debugger | None) -> None:
        SPARK.configure(NOWHERE, {}).launch(program_context(tmp_path, debugger=debugger))
        config = CONFIG.validate_python(json.loads((tmp_path / "pipeline.yaml").read_text()))
        assert (config.stall_timeout == PATIENCE) == (debugger is not None)


class FakeProcess:
    def __init__(self, pid: int, *command: str, parent: "FakeProcess | None" = None, gone: bool = False) -> None:
        self.pid, self._command, self._parent, self._gone = pid, list(command), parent, gone
        self._children: list[FakeProcess] = []
        if parent is not None:
            parent._children.append(self)

    def cmdline(self) -> list[str]:
        if self._gone:
            raise psutil.NoSuchProcess(self.pid)
        return self._command

    def name(self) -> str:
        return self._command[0]

    def parent(self) -> "FakeProcess | None":
        return self._parent

    def children(self) -> "list[FakeProcess]":
        return self._children


class TestRoles:
    JVM = FakeProcess(2, "java", "-cp", "x", "org.apache.spark.deploy.SparkSubmit", "pyspark-shell")
    DAEMON = FakeProcess(3, "python", "-m", "pipeline.worker.daemon", "pyspark.worker", parent=JVM)
    WITH_EXECUTORS = FakeProcess(10, "java", "-cp", "x", "org.apache.spark.deploy.SparkSubmit", "pyspark-shell")
    ENDED = FakeProcess(12, gone=True, parent=WITH_EXECUTORS)
    EXECUTOR = FakeProcess(
        11, "java", "-cp", "x", "org.apache.spark.executor.CoarseGrainedExecutorBackend", parent=WITH_EXECUTORS
    )

    @pytest.mark.parametrize(
        ("process", "role"),
        [
            (FakeProcess(1, "python", "-m", "pipeline"), "driver"),
            (JVM, "executor"),
            (FakeProcess(9, "java", "org.apache.spark.executor.CoarseGrainedExecutorBackend"), "executor"),
            (WITH_EXECUTORS, None),
            (EXECUTOR, "executor"),
            (DAEMON, None),
            (FakeProcess(4, "python", "-m", "pipeline.worker.daemon", "pyspark.worker", parent=DAEMON), "worker"),
            (FakeProcess(5, "python", "-m", "devkit.debug.spark_daemon", "pyspark.worker", parent=DAEMON), "worker"),
            (FakeProcess(6, "bash", "spark-submit"), None),
            (FakeProcess(7, gone=True), None),
        ],
    )
    def test_each_process_has_one(self, process: FakeProcess, role: str | None) -> None:
        assert SPARK.configure(NOWHERE, {}).role_of(cast(psutil.Process, process), 1) == role


def test_without_spark_it_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_module, "find_spec", lambda _: None)
    with pytest.raises(SetupError, match="runs on Spark, which is not installed") as refused:
        SPARK.fetch()
    assert refused.value.hint == "install the kit with it: pip install 'enrichment-devkit[spark]'"
    assert check_class_cache().status == "warn"


def test_it_shows_everything() -> None:
    view = SparkView(ProgramState(committed={("t", 0): 2}))
    deferrals = cast(Deferrals, SimpleNamespace(entries=SimpleNamespace(ever=())))
    assert (view.not_observable(deferrals), view.committed()) == (frozenset(), {("t", 0): 2})
    assert view.says_when_it_runs
    assert not view.shows_life()


def test_it_has_done_nothing_before_it_commits() -> None:
    assert SparkView(ProgramState(drained=True, source_ends={("t", 0): 3})).committed() == {}


@pytest.mark.parametrize(("exit_code", "refused"), [(0, False), (1, False), (2, True), (3, False), (-9, False)])
def test_it_refuses_with_one_exit_code(exit_code: int, refused: bool) -> None:
    assert SparkView(ProgramState()).refused(exit_code) is refused
