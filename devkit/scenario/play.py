"""Plays one arm: fresh topics, same traffic, the pipeline under its supervisor, until a condition or the deadline."""

import functools
import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from devkit.guardian import Guardian
from devkit.observe.arm import ArmObservation, RuleEvidence, Sample
from devkit.observe.audit.arrivals import read_topic
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.claims import resolve_claim
from devkit.observe.audit.model import Audit
from devkit.observe.checkpoint import Checkpoint, Offsets, Range
from devkit.observe.timeline import Timeline
from devkit.report.progress import Progress
from devkit.scenario.batches import PlannedBatches
from devkit.scenario.configure import CONFIG, Places, configuration
from devkit.scenario.model import ArmName, Condition, Scenario
from devkit.scenario.supervisor import Launch, Supervisor
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.embedded import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.spark import SparkPlace, spark_environment, write_spark_conf
from devkit.stack.topics import TopicEnds, recreate_topics
from devkit.traffic.publish import Publisher
from pipeline.config import PipelineConfig

_LOOK = timedelta(milliseconds=200)
_SAMPLE = timedelta(milliseconds=500)
_TRUTHS_KEPT = 8


@dataclass(frozen=True)
class Venue:
    """What an arm needs of the run it belongs to."""

    guardian: Guardian
    stack: Stack
    timeline: Timeline
    progress: Progress
    directory: Path
    spark_ui: bool = False


@dataclass
class _State:
    """What has been seen so far."""

    batches: PlannedBatches = field(default_factory=PlannedBatches)
    committed: Offsets = field(default_factory=dict)
    sample: Sample = field(default_factory=lambda: Sample(0, 0, 0, 0, 0, 0, 0))
    drained: bool = False


class ArmPlay:
    """One arm of one run; `play` once."""

    def __init__(self, venue: Venue, scenario: Scenario, arm: ArmName, traffic: ScenarioTraffic) -> None:
        self._venue, self._scenario, self._arm, self._traffic = venue, scenario, arm, traffic
        self._directory = venue.directory / arm
        self._directory.mkdir(parents=True)
        stack = venue.stack
        prefix = f"{arm}/{scenario.name}"
        places = Places(
            bootstrap=stack.kafka.bootstrap,
            mock_endpoint=stack.mock_api.endpoint,
            s3_endpoint=stack.object_store.endpoint,
            checkpoint=f"s3a://{CHECKPOINTS}/{prefix}",
            claim_bucket=CLAIM_CHECKS,
        )
        self._config: PipelineConfig = configuration(scenario, arm, places)
        self._client = stack.object_store.client()
        self._checkpoint = Checkpoint(self._client, CHECKPOINTS, prefix, self._config.source.topic)
        self._state = _State()

    def play(self) -> ArmObservation:
        """Raises StackError when a part of the stack fails; what the pipeline does is observed, not raised."""
        started = time.monotonic()
        self._say("arm", "topics, traffic and pipeline")
        self._prepare()
        supervisor = Supervisor(self._venue.guardian, self._launch())
        stop = threading.Event()
        publisher = self._traffic.publisher(self._config.source.bootstrap_servers, self._config.source.topic, stop)
        ends = TopicEnds(self._config.source.bootstrap_servers)
        try:
            supervisor.start()
            self._venue.timeline.add("process_started", arm=self._arm)
            publisher.start()
            ended_by = self._watch(supervisor, publisher, ends, started)
        finally:
            stop.set()
            supervisor.stop()
        self._sample(ends, publisher, started, last=True)
        ends.close()
        self._say("arm ends", ended_by)
        duration_s = time.monotonic() - started
        failed = self._checkpoint.failed_range()
        audit, past = self._audit(publisher, failed if supervisor.exit_codes else None)
        return ArmObservation(
            duration_s=duration_s,
            ended_by=ended_by,
            restarts=supervisor.restarts,
            replays=self._state.batches.replays,
            replayed_offsets=self._state.batches.replayed_offsets(self._checkpoint.range_of),
            past_failed_batch=past,
            drained=self._state.drained,
            exceptions=supervisor.exceptions(),
            last_sample=self._state.sample,
            audit=audit,
            evidence=self._evidence(),
        )

    def _prepare(self) -> None:
        scenario, config = self._scenario, self._config
        self._venue.stack.mock_api.populate(
            seed=scenario.traffic.seed, catalog=self._traffic.catalog(), rules=scenario.mock.rules
        )
        topics = scenario.kafka.topics
        recreate_topics(
            config.source.bootstrap_servers,
            {
                config.source.topic: (topics.source.partitions, topics.source.kafka_settings()),
                config.sink.topic: (topics.output.partitions, topics.output.kafka_settings()),
                config.sink.error_topic: (topics.error.partitions, topics.error.kafka_settings()),
            },
        )

    def _launch(self) -> Launch:
        config_file = self._directory / "pipeline.yaml"
        effective = CONFIG.dump_python(self._config, mode="json", by_alias=True)
        # JSON is YAML, and needs no thought about quoting.
        config_file.write_bytes(orjson.dumps(effective, option=orjson.OPT_INDENT_2))
        conf_dir = self._directory / "spark-conf"
        stack = self._venue.stack
        place = SparkPlace(stack.object_store.endpoint, self._venue.guardian.directory, ui=self._venue.spark_ui)
        write_spark_conf(place, conf_dir.absolute())
        return Launch(
            job=self._config.job,
            config_file=config_file.absolute(),
            environment=spark_environment(conf_dir.absolute()),
            logs=self._directory / "logs",
            restart_delay=self._scenario.restart_delay,
        )

    def _watch(self, supervisor: Supervisor, publisher: Publisher, ends: TopicEnds, started: float) -> str:
        deadline = started + self._scenario.until.deadline.total_seconds()
        next_sample = 0.0
        while True:
            for line in supervisor.poll():
                self._note(line)
            self._require_stack(publisher)
            if time.monotonic() >= next_sample:
                self._sample(ends, publisher, started)
                next_sample = time.monotonic() + _SAMPLE.total_seconds()
            if reason := self._condition(supervisor):
                return reason
            if time.monotonic() > deadline:
                return f"deadline of {self._scenario.until.deadline.total_seconds():g} s"
            time.sleep(_LOOK.total_seconds())

    def _condition(self, supervisor: Supervisor) -> str | None:
        reached = Condition.model_fields
        values = {
            "drained": self._state.drained,
            "restarts": supervisor.restarts,
            "replays": self._state.batches.replays,
        }
        for condition in self._scenario.until.any:
            for name in reached:
                wanted = getattr(condition, name)
                if wanted is not None and values[name] >= wanted:
                    return "drained" if name == "drained" else f"{name} {values[name]}"
        return None

    def _require_stack(self, publisher: Publisher) -> None:
        self._venue.stack.require_running()
        if publisher.error is not None:
            raise publisher.error

    def _note(self, line: dict[str, Any]) -> None:
        event = str(line.get("event"))
        details = {key: value for key, value in line.items() if key not in ("event", "at", "in_force")}
        again = event == "batch_started" and self._state.batches.begin(int(line["batch"]))
        if again:
            details["replay"] = True
        self._venue.timeline.add(event, arm=self._arm, **details)
        match event:
            case "started":
                ui = f", Spark UI {line['spark_ui']}" if line.get("spark_ui") not in (None, "off") else ""
                self._say("pipeline", f"running, from {line['start']}{ui}")
            case "batch_started" if again:
                self._say(
                    "replay", f"batch {line['batch']} again: {_describe(self._checkpoint.range_of(line['batch']))}"
                )
            case "failed":
                self._say("pipeline", str(line["error"]))
            case "process_ended":
                self._say("pipeline", f"process {line['process']} ended with exit code {line['exit_code']}")
            case "process_restarted":
                self._say("restart", f"process {line['process']}, from the checkpoint")

    def _sample(self, ends: TopicEnds, publisher: Publisher, started: float, *, last: bool = False) -> None:
        counts = self._venue.stack.mock_api.counts()
        source = ends.of(self._config.source.topic)
        self._state.committed = self._checkpoint.committed()
        sample = Sample(
            at_s=round(time.monotonic() - started, 3),
            committed=sum(self._state.committed.values()),
            source_end=sum(source.values()),
            outputs=sum(ends.of(self._config.sink.topic).values()),
            errors=sum(ends.of(self._config.sink.error_topic).values()),
            requests=counts.requests,
            in_flight=counts.in_flight,
        )
        self._state.sample = sample
        published_all = publisher.done and publisher.published == self._traffic.count
        # A topic that shows no partitions yet has not drained.
        self._state.drained = (
            published_all
            and bool(source)
            and all(self._state.committed.get(partition, 0) >= end for partition, end in source.items())
        )
        fired = {name: rule.requests for name, rule in counts.rules.items()}
        self._venue.timeline.add("sample", arm=self._arm, **_as_dict(sample), lag=sample.lag, faults=fired)
        self._venue.progress.sample(self._arm, sample, fired, last=last)

    def _audit(self, publisher: Publisher, failed: Range | None) -> tuple[Audit, int | None]:
        self._say("audit", "every input against its fate")
        mock, bootstrap = self._venue.stack.mock_api, self._config.source.bootstrap_servers
        publisher.manifest().write(self._directory / "manifest.jsonl")
        audit = DeliveryAudit(
            self._traffic.source_events(publisher),
            stream=self._config.sink.topic,
            truth=functools.lru_cache(maxsize=_TRUTHS_KEPT)(mock.truth),
            resolve=functools.partial(resolve_claim, self._client),
        )
        for arrival in read_topic(bootstrap, self._config.sink.topic):
            audit.add_output(arrival)
        for arrival in read_topic(bootstrap, self._config.sink.error_topic):
            audit.add_error(arrival)
        return audit.finish(self._state.committed), audit.past(failed.end) if failed else None

    def _evidence(self) -> tuple[RuleEvidence, ...]:
        rules = self._venue.stack.mock_api.counts().rules
        return tuple(
            RuleEvidence(
                rule=name,
                requests=counted.requests,
                completed=counted.completed,
                max_content_length_bytes=counted.max_content_length,
                max_wire_bytes=counted.max_wire_bytes,
                max_real_bytes=counted.max_real_bytes,
                max_duration_s=counted.max_duration_s,
            )
            for name, counted in rules.items()
        )

    def _say(self, phase: str, text: str) -> None:
        self._venue.timeline.add("phase", arm=self._arm, phase=phase, text=text)
        self._venue.progress.line(self._arm, f"{phase}: {text}")


def _describe(batch: Range) -> str:
    return ", ".join(
        f"offsets {batch.start.get(partition, 0)} to {end - 1}"
        + (f" of partition {partition}" if len(batch.end) > 1 else "")
        for partition, end in sorted(batch.end.items())
        if end > batch.start.get(partition, 0)
    )


def _as_dict(sample: Sample) -> dict[str, Any]:
    return {name: getattr(sample, name) for name in Sample.__dataclass_fields__}
