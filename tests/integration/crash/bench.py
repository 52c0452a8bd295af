"""A pipeline with deferral on a real stack, with traffic of its own, that tests may kill, restart and audit."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import psutil
import requests
from pydantic import TypeAdapter

from devkit.guardian import Guardian, ManagedProcess
from devkit.guardian.processes import TREE_VARIABLE, marked
from devkit.observe.audit.arrivals import Arrival, Position, read_topic
from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import Replays
from devkit.observe.checkpoint import Checkpoint
from devkit.observe.kafka.deferrals import DeferralTopic
from devkit.play.arm.collection import Ended, collection
from devkit.play.topics_to_make import topics_to_make
from devkit.programs.batches import PlannedBatches
from devkit.programs.places import merge
from devkit.programs.program_state import retried_task
from devkit.programs.program_truth import truth_of
from devkit.programs.spark.configuration import CONFIG_FILE, topics_of
from devkit.programs.spark.launch import CONF_DIR, prepare_launch
from devkit.programs.spark.place import SparkPlace
from devkit.programs.spark.program import ConfiguredSpark
from devkit.scenario.stack_settings import Topics
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.topics import TopicEnds, recreate_topics
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import Publisher, stated
from devkit.waiting import wait_until
from mockapi.rules.model import Rule, Rules
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.events import TaskRetried
from tests.integration.crash.point import CONSTANTS_VARIABLE, CRASH_VARIABLE, CrashPoint
from tests.integration.crash.warm_jvm import LAUNCHER, LogPart, WarmJvm
from tests.integration.json_lines import json_lines

DEADLINE = timedelta(seconds=180)
_REPOSITORY = Path(__file__).parents[3]
_SUBMITTED = _REPOSITORY / "deploy" / "spark" / "submit.py"
_TIMEOUT_S = 30
_RETRIED = TypeAdapter(TaskRetried)
_COMMAND_S = 120


@dataclass
class Run:
    """One process of the pipeline, and what it has said so far."""

    process: ManagedProcess
    run_id: str
    jvm_log: LogPart | None = None
    """Of a JVM that is not the job's own."""
    lines: list[dict[str, Any]] = field(default_factory=list)

    def logged(self, event: str, **fields: Any) -> list[dict[str, Any]]:
        """The lines of an event whose fields are these."""
        self.lines = json_lines(self.process.stdout)
        return [
            line
            for line in self.lines
            if line["event"] == event and all(line.get(name) == value for name, value in fields.items())
        ]

    def await_line(self, event: str, **fields: Any) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.logged(event, **fields)
            return found[0] if found else self._still_runs()

        return wait_until(look, what=f"the pipeline to say {event} {fields or ''}", deadline=DEADLINE)

    def await_condition(self, condition: Any, what: str, deadline: timedelta = DEADLINE) -> Any:
        """Wait while the process runs."""
        return wait_until(lambda: condition() or self._still_runs(), what=what, deadline=deadline)

    def terminate(self) -> int:
        """SIGTERM, and the exit code when it has ended."""
        self.process.signal(signal.SIGTERM)
        return self.await_end()

    def await_end(self) -> int:
        wait_until(lambda: self.process.exit_code is not None, what="the pipeline to end", deadline=DEADLINE)
        assert self.process.exit_code is not None
        return self.process.exit_code

    def standard_error(self) -> str:
        """What the driver, Spark and the Python workers have written there."""
        return self.process.stderr.read_text(errors="replace") + (self.jvm_log.read() if self.jvm_log else "")

    def tree(self) -> list[psutil.Process]:
        """What runs of it: the driver, its JVM, the Python workers."""
        assert self.jvm_log is None, "JVM and workers are the session's: start the job with own_jvm=True"
        return marked(TREE_VARIABLE, f"{self.run_id}/{self.process.request}")

    def workers(self) -> list[psutil.Process]:
        """Those that Spark's daemon has forked; the daemon itself would only fork new ones."""
        tree = self.tree()
        daemons = {process.pid for process in tree if "pyspark.worker" in process.cmdline()}
        return [process for process in tree if process.pid in daemons and process.ppid() in daemons]

    def _still_runs(self) -> None:
        assert self.process.exit_code is None, f"ended with {self.process.exit_code}: {self.process.last_words(30)}"


class Bench:
    """Topics, traffic and mock of one test. `settings` are the pipeline's, on top of the places of the stack, `spark`
    is for Spark.
    """

    def __init__(
        self,
        guardian: Guardian,
        stack: Stack,
        directory: Path,
        name: str,
        *,
        traffic: Mapping[str, Any],
        rules: Sequence[Mapping[str, Any]],
        settings: Mapping[str, Any],
        topics: Topics | None = None,
        spark: Mapping[str, str] | None = None,
        warm_jvm: WarmJvm | None = None,
    ) -> None:
        self.guardian, self.stack, self._directory = guardian, stack, directory
        self._warm_jvm = None if spark else warm_jvm
        directory.mkdir()
        bootstrap = stack.kafka.bootstrap
        self.bootstrap = bootstrap
        places = {
            "source": {"bootstrap_servers": bootstrap}
            | ({} if "topics" in settings.get("source", {}) else {"topic": f"{name}.source"}),
            "sink": {"bootstrap_servers": bootstrap, "topic": f"{name}.out", "error_topic": f"{name}.error"},
            "mediawiki": {"endpoint": stack.mock_api.endpoint},
            "checkpoint": f"s3a://{CHECKPOINTS}/{name}",
            "claim_check": {"endpoint": stack.object_store.endpoint, "bucket": CLAIM_CHECKS, "prefix": name},
            "deferral": {"topic": f"{name}.deferred"},
        }
        self.config = PipelineConfig.model_validate(merge(places, settings))
        self._traffic = ScenarioTraffic(TrafficSpec.model_validate(traffic))
        self._client = stack.object_store.client()
        self._checkpoint = Checkpoint(self._client, CHECKPOINTS, name, self.config.source.all_topics)
        parsed: tuple[Rule, ...] = TypeAdapter(Rules).validate_python(tuple(rules))
        seed = int(traffic["seed"])
        self.catalog = self._traffic.catalog()
        stack.mock_api.populate(seed=seed, catalog=self.catalog, rules=parsed)
        recreate_topics(bootstrap, topics_to_make(topics or Topics(), topics_of(self.config)))
        self._stop = threading.Event()
        self._truth = truth_of(ConfiguredSpark(config=self.config), stack.mock_api)
        fate = self._truth.expected if self._truth else stated
        self._publisher: Publisher = self._traffic.publisher(bootstrap, self.config.source.topic, self._stop, fate)
        self._ends = TopicEnds(bootstrap)
        self._deferrals = DeferralTopic(bootstrap, self.config.deferral.topic)
        self._runs: list[Run] = []
        self.config_file, self.conf_dir = directory / CONFIG_FILE, directory / CONF_DIR
        self._launch = prepare_launch(
            self.config,
            SparkPlace(stack.object_store.endpoint, guardian.directory, settings=spark or {}),
            directory,
            credentials=stack.object_store.credentials(),
            entry=(str(LAUNCHER),),
        )

    def publish(self, *, wait: bool = False) -> None:
        """Begin with the traffic, or publish all of it."""
        self._publisher.start()
        if wait:
            self._publisher.result(60)

    def start(
        self,
        *arguments: str,
        crash: CrashPoint | None = None,
        constants: Mapping[str, object] | None = None,
        beside: bool = False,
        submitted: bool = False,
        bootstrapped: bool = False,
        own_jvm: bool = False,
    ) -> Run:
        """A process of the pipeline; the first one makes the checkpoint, unless that is `bootstrapped`. Of the one
        before nothing is left, unless this one is to run `beside` it. With `submitted` it is spark-submit, and the
        pipeline its child. It uses the session's JVM if there is one; with `own_jvm`, or where it must, it starts one.
        """
        if not beside:
            self.end()
        environment = {**self._launch.environment, "PYTHONPATH": str(_REPOSITORY)}
        if crash is not None:
            environment[CRASH_VARIABLE] = crash.model_dump_json()
        if constants:
            environment[CONSTANTS_VARIABLE] = orjson.dumps(constants).decode()
        argv = self._launch.argv
        if submitted:
            argv = (*self._spark_submit(environment["SPARK_HOME"]), *argv[argv.index("run") :])
            del environment["PYSPARK_SUBMIT_ARGS"]
        own_jvm = own_jvm or submitted or beside or "--memory-limit" in arguments
        lent = {} if own_jvm else self._lend_jvm()
        environment |= lent
        launch = replace(self._launch, argv=(*argv, *arguments), environment=environment)
        name = f"pipeline-{len(self._runs) + 1}"
        addition = launch.again if self._runs or bootstrapped else None
        process = launch.spawn(self.guardian, name, logs=self._directory / "logs", addition=addition)
        log = self._warm_jvm.lent_to(process) if self._warm_jvm and lent else None
        self._runs.append(Run(process, self.guardian.run_id, log))
        return self._runs[-1]

    def _lend_jvm(self) -> dict[str, str]:
        return self._warm_jvm.lend(self._launch.environment) if self._warm_jvm else {}

    def _spark_submit(self, spark_home: str) -> tuple[str, ...]:
        settings = str(self.conf_dir / "spark-defaults.conf")
        return f"{spark_home}/bin/spark-submit", "--properties-file", settings, str(_SUBMITTED)

    def end(self) -> None:
        """Kill what is left of all processes."""
        for run in self._runs:
            run.process.kill_tree()
        # It would go on with what a killed job has begun.
        if self._warm_jvm and any(run.jvm_log for run in self._runs):
            self._warm_jvm.clear()

    def close(self) -> None:
        self._stop.set()
        self.end()
        self._ends.close()
        self._deferrals.close()

    def command(self, *arguments: str, spark: bool = False) -> subprocess.CompletedProcess[str]:
        """`python -m pipeline …` with the job's configuration, from its start to its end; with the job's Spark."""
        environment = {**os.environ, **self.stack.object_store.credentials()}
        program: tuple[str, ...] = ("-m", "pipeline")
        if spark:
            environment |= self._launch.environment
            if lent := self._lend_jvm():
                program, environment = (str(LAUNCHER),), environment | lent
        argv = [sys.executable, *program, *arguments, "--config", str(self.config_file)]
        return subprocess.run(
            argv, cwd=_REPOSITORY, env=environment, capture_output=True, text=True, timeout=_COMMAND_S, check=False
        )

    @property
    def job_environment(self) -> dict[str, str]:
        """What a process of the job runs with, where a test starts one by itself."""
        return dict(self._launch.environment)

    # what is there

    def committed(self) -> dict[int, int]:
        """Of the topic that the traffic goes to, the first one."""
        offsets = self._checkpoint.committed()
        return {number: offset for (topic, number), offset in offsets.items() if topic == self.config.source.topic}

    def committed_of_topics(self) -> dict[str, int]:
        """Of all topics, each one's partitions summed up."""
        found: Counter[str] = Counter()
        for (topic, _), offset in self._checkpoint.committed().items():
            found[topic] += offset
        return dict(found)

    def source_end(self) -> int:
        """Of the same topic."""
        return sum(self._ends.of(self.config.source.topic).values())

    def deferred(self) -> int:
        return self._deferrals.catch_up()

    def deferred_ever(self) -> int:
        self._deferrals.catch_up()
        return len(self._deferrals.entries.ever)

    def ever_deferred(self) -> frozenset[Position]:
        """Source events that have been in the ledger's topic."""
        self._deferrals.catch_up()
        return frozenset(self._deferrals.entries.ever)

    def over_budget(self) -> frozenset[Position]:
        """Source events that were deferred as their batch was over its budget."""
        self._deferrals.catch_up()
        return self._deferrals.entries.over_budget

    def is_drained(self) -> bool:
        if self._publisher.error is not None:
            raise self._publisher.error
        return (
            self._publisher.published == self._traffic.count
            and sum(self.committed().values()) >= self._traffic.count
            and self.deferred() == 0
        )

    def await_drained(self, run: Run) -> None:
        run.await_condition(self.is_drained, "all events to be committed, and none deferred")

    def outputs(self) -> list[Arrival]:
        return list(read_topic(self.bootstrap, self.config.sink.topic))

    def errors(self) -> list[Arrival]:
        return list(read_topic(self.bootstrap, self.config.sink.error_topic))

    def audit(self, replays: Replays | None = None) -> Audit:
        """What became of all events; to be asked when the pipeline has ended. `replays` are what the processes read
        again, unless the test says what they are.
        """
        self._deferrals.catch_up()
        replays = self._replays() if replays is None else replays
        ended = Ended(self._checkpoint.committed(), self._deferrals.entries, None, 0, replays)
        return collection(
            self._traffic.source_events(self._publisher),
            ended,
            bootstrap=self.bootstrap,
            topics=topics_of(self.config),
            truth=self._truth,
            client=self._client,
            pages_matched=None,
        ).audit

    def _replays(self) -> Replays:
        batches = PlannedBatches()
        for line in itertools.chain.from_iterable(run.logged("batch_started") for run in self._runs):
            batches.begin(line["batch"], line["began_ms"])
        lines = itertools.chain.from_iterable(run.logged("task_retried") for run in self._runs)
        retried = map(retried_task, map(_RETRIED.validate_python, lines))
        return Replays(
            max(0, len(self._runs) - 1),
            batches.replayed_ranges(self._checkpoint.range_of),
            tuple(retried),
            batches.begun,
        )

    def assert_clean(self, *, restarted: bool) -> Audit:
        """Everything left once, rightly, in order; after a restart repeats of what was read again are fine, byte for
        byte the same. No event has both an output and an error event: the mock answered the same each time.
        """
        audit = self.audit()
        assert audit.problems() == {}, audit.examples
        assert audit.conflicting == 0
        assert restarted or audit.excused == audit.excused_by_retry
        assert (audit.inputs, audit.pending, audit.deferred) == (self._traffic.count, 0, 0)
        return audit

    # the mock

    def in_flight(self, rules: str) -> list[dict[str, Any]]:
        """Requests that meet a rule whose name begins so, and have no answer yet."""
        requests_ = self._mock("GET", "/journal/in-flight")
        return [request for request in requests_ if any(name.startswith(rules) for name in request["rules"])]

    def fetches(self) -> int:
        """First attempts that have ended."""
        return self.stack.mock_api.counts().fetches

    def entries(self, rule: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._mock("GET", f"/journal?rule={requests.utils.quote(rule)}")
        return found

    def add_rule(self, **rule: Any) -> None:
        self._mock("POST", "/rules", json=rule)

    def remove_rule(self, rule: str) -> None:
        self._mock("DELETE", f"/rules/{requests.utils.quote(rule)}")

    def _mock(self, method: str, path: str, **body: Any) -> Any:
        answer = requests.request(method, f"{self.stack.mock_api.endpoint}/__mock{path}", timeout=_TIMEOUT_S, **body)
        answer.raise_for_status()
        return answer.json() if answer.content else None
