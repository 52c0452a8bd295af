"""Plays one arm: fresh topics, same traffic, the pipeline under its supervisor, until a condition or the deadline."""

import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil

from devkit.debug.debugger import CAVEAT, PATIENCE, Debugger
from devkit.debug.pause import NO_PAUSES, Pauses, Phase
from devkit.guardian import Guardian
from devkit.guardian.processes import TREE_VARIABLE, marked
from devkit.observe.arm import ArmObservation, Sample
from devkit.observe.arm_end import ArmEnd, ConditionName
from devkit.observe.checkpoint import Checkpoint
from devkit.observe.deferrals import Deferrals, DeferralTopic, NoDeferrals
from devkit.observe.evidence import rule_evidence
from devkit.observe.measure import measure
from devkit.observe.metrics import Scraper
from devkit.observe.sampler import Sampler, Topics
from devkit.observe.timeline import Timeline
from devkit.observe.usage import TreeUsage
from devkit.programs.launch import Launch
from devkit.programs.spark.launch import prepare_launch, write_config
from devkit.programs.spark.place import SparkPlace
from devkit.report.progress import Progress
from devkit.scenario.aftermath import Account, Ended, account, pages_met
from devkit.scenario.arm_log import ArmLog
from devkit.scenario.arm_state import ArmState
from devkit.scenario.configure import Places, configuration, tried_configuration
from devkit.scenario.first_try import try_start
from devkit.scenario.model import ArmName, Scenario
from devkit.scenario.own_pipeline import OwnPipeline, own_environment, own_launch
from devkit.scenario.pipeline_events import PipelineEvents
from devkit.scenario.supervisor import Supervisor
from devkit.scenario.topics import slots_of_arm, topics_of_arm
from devkit.scenario.traffic import ScenarioTraffic
from devkit.scenario.until import arm_end
from devkit.scenario.view import KitView, OwnView, View
from devkit.stack.parts.mock_api import JournalCounts
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.topics import TopicEnds, recreate_topics
from devkit.traffic.publish import Publisher
from pipeline.config import PipelineConfig

_LOOK = timedelta(milliseconds=200)
_SAMPLE = timedelta(milliseconds=500)


@dataclass(frozen=True)
class Venue:
    """What an arm needs of the run it belongs to."""

    guardian: Guardian
    stack: Stack
    timeline: Timeline
    progress: Progress
    directory: Path
    spark_ui: bool = False
    own: OwnPipeline | None = None
    pauses: Pauses = NO_PAUSES
    debugger: Debugger | None = None


class ArmPlay:
    """One arm of one run; `play` once."""

    def __init__(self, venue: Venue, scenario: Scenario, arm: ArmName, traffic: ScenarioTraffic) -> None:
        self._venue, self._scenario, self._arm, self._traffic = venue, scenario, arm, traffic
        self._directory = venue.directory / arm
        self._directory.mkdir(parents=True)
        stack = venue.stack
        prefix = f"{stack.prefix}{arm}/{scenario.name}"
        places = Places(
            bootstrap=stack.kafka.bootstrap,
            mock_endpoint=stack.mock_api.endpoint,
            s3_endpoint=stack.object_store.endpoint,
            checkpoint=f"s3a://{CHECKPOINTS}/{prefix}",
            claim_bucket=CLAIM_CHECKS,
            claim_prefix=prefix if stack.prefix else None,
        )
        self._config: PipelineConfig = configuration(scenario, arm, places)
        self._tried_first = tried_configuration(scenario, arm, places)
        if venue.debugger is not None:
            self._config = self._config.model_copy(update={"stall_timeout": PATIENCE})
        self._client = stack.object_store.client()
        self._checkpoint = Checkpoint(self._client, CHECKPOINTS, prefix, self._config.source.topic)
        self._paused_before_traffic_s = 0.0
        self._state = ArmState()
        self._scraper = Scraper()
        self._view = self._view_of(venue.own)
        self._log = ArmLog(arm, venue.timeline, venue.progress)
        self._events = PipelineEvents(self._state, self._log, self._view, self._checkpoint)
        self._started = time.monotonic()

    def play(self) -> ArmObservation:
        """Raises StackError when a part of the stack fails; what the pipeline does is observed, not raised."""
        self._started, began_ms = time.monotonic(), _now_ms()
        self._log.say("arm", "topics, traffic and pipeline")
        self._prepare()
        self._try_first()
        supervisor = self._supervisor()
        stop = threading.Event()
        bootstrap = self._config.source.bootstrap_servers
        publisher = self._traffic.publisher(bootstrap, self._config.source.topic, stop)
        deferrals = self._deferrals()
        sampler = self._sampler(supervisor, deferrals)
        try:
            supervisor.start()
            self._log.add("process_started")
            if not self._view.says_when_it_runs:
                self._state.process = 1
                text = "somebody's own: committed offsets and batches are seen only if it shows them"
                self._log.say("pipeline", text)
            end = self._watch(supervisor, publisher, sampler)
            ended_ms = _now_ms()
        finally:
            stop.set()
            supervisor.stop()
        self._pause("arm-end")
        self._state.process = None
        self._sample(sampler, publisher, last=True)
        sampler.ends.close()
        deferrals.close()
        self._scraper.write(self._directory)
        self._log.ended(end)
        duration_s = self._now_s()
        failed = self._checkpoint.failed_range() if supervisor.exit_codes else None
        found = self._account(publisher, Ended(self._view.committed(), deferrals.standing, failed, ended_ms))
        self._tell_latencies(found, began_ms + round(1000 * self._paused_before_traffic_s))
        return self._observation(supervisor, found, deferrals, end=end, duration_s=duration_s)

    def _observation(
        self,
        supervisor: Supervisor,
        found: Account,
        deferrals: Deferrals,
        *,
        end: ArmEnd,
        duration_s: float,
    ) -> ArmObservation:
        state = self._state
        assert state.counts is not None
        unseen = self._view.unseen(deferrals)
        if unseen:
            self._log.add("unseen", sights=sorted(unseen))
        has_batches = not unseen & {"batches", "offsets"}
        return ArmObservation(
            duration_s=duration_s,
            end=end,
            restarts=supervisor.restarts,
            replays=state.batches.replays,
            replayed_offsets=state.batches.replayed_offsets(self._checkpoint.range_of) if has_batches else 0,
            past_failed_batch=found.past_failed_batch,
            drained=state.drained,
            exceptions=supervisor.exceptions(),
            failures=tuple(state.failures),
            stalls=tuple(state.stalls),
            last_sample=state.sample,
            figures=measure(
                state.samples,
                fault_over=self._scenario.mock.fault_over,
                traffic_over_s=state.traffic_over_s,
                peak_queue=state.counts.upstream.max_queued,
                deferred_ever=len(deferrals.standing.ever),
                over_budget=len(deferrals.standing.over_budget),
                latencies=found.latencies,
            ),
            latencies=found.latencies,
            audit=found.audit,
            evidence=rule_evidence(self._scenario.mock.rules, state.counts),
            unseen=unseen,
            left=state.left if "offsets" in unseen else None,
            caveats=(*state.caveats, *self._caveats(state.counts)),
            metrics=self._scraper.scraped(),
            tried_first=state.tried_first,
        )

    def _caveats(self, counts: JournalCounts) -> tuple[str, ...]:
        ours = {rule.name for rule in self._scenario.mock.rules}
        return tuple(f"fault {name!r} was put in by hand" for name in counts.rules if name not in ours)

    def _prepare(self) -> None:
        scenario, config = self._scenario, self._config
        self._venue.stack.mock_api.populate(
            seed=scenario.traffic.seed, catalog=self._traffic.catalog(), rules=scenario.mock.rules
        )
        recreate_topics(config.source.bootstrap_servers, topics_of_arm(scenario.kafka.topics, config))

    def _try_first(self) -> None:
        """Only the kit's own pipeline says that it refuses, and why."""
        venue, config = self._venue, self._tried_first
        if config is None or venue.own is not None:
            return
        directory = self._directory / "tried-first"
        directory.mkdir()
        credentials = venue.stack.object_store.credentials()
        launch = prepare_launch(config, self._place(), directory, credentials=credentials, options=("--allow-unsafe",))
        tried = try_start(venue.guardian, launch, self._directory / "logs", require_stack=venue.stack.require_running)
        self._state.tried_first = tried
        self._log.say(
            "pipeline", "tried first, and " + (f"refused: {tried.refusal}" if tried.refusal else "it started")
        )

    def _deferrals(self) -> Deferrals:
        config = self._config
        if config.deferral.policy != "defer":
            return NoDeferrals()
        return DeferralTopic(config.sink.bootstrap_servers, config.deferral.topic)

    def _sampler(self, supervisor: Supervisor, deferrals: Deferrals) -> Sampler:
        config, run_id = self._config, self._venue.guardian.run_id

        def tree() -> list[psutil.Process]:
            process = supervisor.process
            return marked(TREE_VARIABLE, f"{run_id}/{process.request}") if process else []

        return Sampler(
            counts=self._venue.stack.mock_api.counts,
            topics=Topics(source=config.source.topic, output=config.sink.topic, error=config.sink.error_topic),
            ends=TopicEnds(config.source.bootstrap_servers),
            checkpoint=self._checkpoint,
            deferrals=deferrals,
            usage=TreeUsage(tree),
            clock=self._now_s,
        )

    def _view_of(self, own: OwnPipeline | None) -> View:
        if own is None:
            return KitView(self._state)
        mock = self._venue.stack.mock_api
        return OwnView(self._state, self._config, requests=lambda: mock.counts().requests)

    def _supervisor(self) -> Supervisor:
        own = self._venue.own
        return Supervisor(
            self._venue.guardian,
            self._launch() if own is None else self._launch_of(own),
            logs=self._directory / "logs",
            restart_delay=self._scenario.restart_delay,
            own=own is not None,
            shows_life=self._view.shows_life,
        )

    def _launch(self) -> Launch:
        debugger = self._venue.debugger
        credentials = self._venue.stack.object_store.credentials()
        launch = prepare_launch(
            self._config, self._place(), self._directory, credentials=credentials, options=("--allow-unsafe",)
        )
        return debugger.around(launch) if debugger else launch

    def _place(self) -> SparkPlace:
        debugger = self._venue.debugger
        return SparkPlace(
            self._venue.stack.object_store.endpoint,
            self._venue.guardian.directory,
            slots=slots_of_arm(self._scenario.kafka.topics, self._config),
            ui=self._venue.spark_ui,
            settings=debugger.spark_settings() if debugger else {},
        )

    def _launch_of(self, own: OwnPipeline) -> Launch:
        config_file = write_config(self._config, self._directory)
        credentials = self._venue.stack.object_store.credentials()
        environment = own_environment(self._config, config_file, self._arm, credentials, os.environ)
        return own_launch(own, environment)

    def _pause(self, phase: Phase) -> bool:
        """Whether it was a point to pause at; the arm's clock stood still meanwhile."""
        paused_s = self._venue.pauses.at(phase, self._arm)
        self._started += paused_s or 0
        if phase == "traffic":
            self._paused_before_traffic_s = paused_s or 0
        return paused_s is not None

    def _watch(self, supervisor: Supervisor, publisher: Publisher, sampler: Sampler) -> ArmEnd:
        deadline_s = self._scenario.until.deadline.total_seconds()
        if self._venue.debugger is not None:
            deadline_s = math.inf
            self._state.caveats.append(CAVEAT)
            self._log.say("debug", self._venue.debugger.invitation())
        has_paused = False
        next_sample_s = 0.0
        while True:
            for line in supervisor.poll():
                self._events.take(line)
            if not has_paused and self._state.process is not None:
                has_paused = True
                if self._pause("pipeline"):
                    self._state.caveats.append("it was paused while its query ran, so its times are not the scenario's")
            self._begin_traffic(publisher.start)
            self._require_stack(publisher)
            if self._now_s() >= next_sample_s:
                self._sample(sampler, publisher)
                next_sample_s = self._now_s() + _SAMPLE.total_seconds()
            if end := arm_end(self._scenario.until, self._seen(supervisor), self._now_s(), deadline_s=deadline_s):
                self._sample(sampler, publisher)
                return end
            time.sleep(_LOOK.total_seconds())

    def _begin_traffic(self, start: Callable[[], None]) -> None:
        state = self._state
        if not state.traffic_begun and (self._scenario.traffic_begins == "at once" or state.process is not None):
            state.traffic_begun = True
            self._pause("traffic")
            self._log.add("traffic_begins")
            start()

    def _seen(self, supervisor: Supervisor) -> dict[ConditionName, int]:
        state = self._state
        return {"drained": state.drained, "restarts": supervisor.restarts, "replays": state.batches.replays}

    def _require_stack(self, publisher: Publisher) -> None:
        self._venue.stack.require_running()
        if publisher.error is not None:
            raise publisher.error

    def _sample(self, sampler: Sampler, publisher: Publisher, *, last: bool = False) -> None:
        state = self._state
        # Asked first: what is published while the look goes on may lie behind the ends that it sees.
        published_all = publisher.done and publisher.published == self._traffic.count
        look = sampler.look(state.process)
        sample = look.sample
        state.committed, state.counts, state.sample = look.committed, look.counts, sample
        state.source_ends = look.source_ends
        if not last:
            state.samples.append(sample)
            if state.metrics_url is not None:
                self._scraper.look(state.processes, state.metrics_url)
        if published_all and state.traffic_over_s is None:
            state.traffic_over_s = sample.at_s
        # A topic that shows no partitions yet has not drained.
        state.drained = (
            published_all
            and bool(look.source_ends)
            and all(look.committed.get(partition, 0) >= end for partition, end in look.source_ends.items())
            and not sample.deferred
        )
        self._view.look(publisher, sample, published_all=published_all, last=last)
        fired = {name: rule.requests for name, rule in look.counts.rules.items()}
        self._log.add("sample", **_as_dict(sample), lag=sample.lag, faults=fired)
        self._venue.progress.sample(self._arm, sample, fired, last=last)

    def _account(self, publisher: Publisher, ended: Ended) -> Account:
        self._log.say("audit", "every input against its fate")
        publisher.manifest().write(self._directory / "manifest.jsonl")
        mock, counts = self._venue.stack.mock_api, self._state.counts
        assert counts is not None
        return account(
            self._traffic.source_events(publisher),
            ended,
            config=self._config,
            mock=mock,
            client=self._client,
            pages_met=pages_met(self._scenario.mock.rules, mock, counts),
        )

    def _tell_latencies(self, found: Account, began_ms: int) -> None:
        for at_s, latencies in found.latencies.by_second(began_ms):
            figures = latencies.figures()
            self._log.add(
                "latency",
                at_s=at_s,
                count=len(latencies.events),
                waiting=figures.waiting,
                p50_s=figures.p50_s,
                p95_s=figures.p95_s,
                p99_s=figures.p99_s,
            )

    def _now_s(self) -> float:
        return time.monotonic() - self._started


def _as_dict(sample: Sample) -> dict[str, Any]:
    return {name: getattr(sample, name) for name in Sample.__dataclass_fields__}


def _now_ms() -> int:
    """The wall clock's, as records carry it."""
    return int(time.time() * 1000)
