"""What the phases of an arm share: its programs, topics, clock and state."""

import functools
import itertools
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from devkit.debug.pause_point import Phase
from devkit.observe.applied_offsets import AppliedOffsets, FollowerOffsets
from devkit.observe.audit.arrivals import read_topic
from devkit.observe.checkpoint import Checkpoint, Offsets
from devkit.observe.committed_offsets import CommittedOffsets
from devkit.observe.expected_output.truth import FatesTogether, JobTruth
from devkit.observe.kafka.deferrals import Deferrals, DeferralTopic, NoDeferrals
from devkit.observe.kafka.emitted import Emissions
from devkit.observe.kafka.event_time_skew import EventTimeSkew
from devkit.observe.logs.first_errors import FirstComplaints
from devkit.observe.program_observation import ONLY
from devkit.observe.samples.metrics import Scraper
from devkit.observe.samples.sampler import SampledTopics, Sampler
from devkit.observe.samples.usage import TreeUsage
from devkit.observe.stated_offsets import StatedOffsets, StatedOffsetsReader
from devkit.play.arm.arm_faults import ArmFaults
from devkit.play.arm.arm_state import ArmState
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.log import ArmLog
from devkit.play.arm.program_events import ProgramEvents
from devkit.play.arm.rule_switches import RuleSwitches
from devkit.play.arm.run_context import ArmHook, ArmInPlay, RunContext
from devkit.programs.hosts_file import HostsFile
from devkit.programs.places import Places
from devkit.programs.program_context import ProgramContext
from devkit.programs.program_run import Policy, ProgramRun
from devkit.programs.program_state import ProgramState
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.program_truth import truth_of
from devkit.programs.stack_places import stack_places
from devkit.scenario.placeholders import filled, filled_where_known, placeholder_value
from devkit.scenario.resolve import ResolvedArm, ResolvedProgram
from devkit.scenario.stack_settings import limits_of_kit
from devkit.scenario.traffic import ScenarioTraffic, with_errors_of
from devkit.stack.stack import CHECKPOINTS
from devkit.stack.topics import TopicEnds
from devkit.traffic.publish import ExpectedFate, Publisher, stated


class Arm:
    """One arm of one run, as a context manager. `stopping` ends what runs, `closing` closes connections.

    `main` is the program that expectations are about by default; `topics`, `checkpoint` and `places` are its own.
    `bootstrap` is the broker's address without a proxy.
    """

    def __init__(self, context: RunContext, resolved: ResolvedArm, traffic: ScenarioTraffic) -> None:
        self.context, self.resolved, self.traffic = context, resolved, traffic
        scenario, name = self.scenario, self.name = resolved.scenario, resolved.name
        self.directory = context.directory / name
        self.directory.mkdir(parents=True)
        self.clock, self.state = ArmClock(), ArmState()
        self.log = ArmLog(name, context.timeline, context.progress)
        stack = context.stack
        self.bootstrap, self.client = stack.kafka.direct, stack.object_store.client()
        prefix = f"{stack.prefix}{name}/{scenario.name}"
        places = stack_places(stack, prefix, claim_prefix=prefix if stack.prefix else None)
        self.hosts = self._write_hosts(scenario.named_parts)
        places = self.places = self.hosts.renamed(places) if self.hosts else places
        self.programs = tuple(self._make_run(program, places) for program in resolved.programs.values())
        self.main = self.programs[0]
        self.scrapers = {run.name: Scraper() for run in self.programs}
        self.topics = self.main.configured.topics
        first = replace(places, checkpoint=f"{places.checkpoint}-tried-first")
        self.tried_first = resolved.tried_first.at(first) if resolved.tried_first else None
        self._checkpoint_prefix = prefix
        self._checkpoints = {run.name: self._checkpoint_at(run) for run in self.programs}
        self.checkpoint = self.checkpoint_of(self.main)
        self.events = {
            run.name: ProgramEvents(
                run, self.log.of(run.name), self.checkpoint_of(run), self.clock.now_s, is_main=run is self.main
            )
            for run in self.programs
        }
        in_play = ArmInPlay(name, self.clock, self.programs, self.state, self.log)
        self.faults = ArmFaults(
            resolved.timeline,
            in_play,
            stack,
            context.guardian.run_id,
            topics=self.topics.by_role,
            checkpoint=self.checkpoint,
            events=scenario.traffic.event_count,
            seed=scenario.traffic.seed,
            hosts=self.hosts,
        )
        self.switches = RuleSwitches(
            [rule for rule in self.scenario.mock.rules if rule.has_window],
            lambda rule, on: stack.mock_api.switch(rule, on),
            lambda: self.publisher.published,
            traffic.count,
            self.clock,
            self.log,
        )
        self.hooks: tuple[ArmHook, ...] = (self.faults, self.switches, *(make(in_play) for make in context.hooks))
        self.publishing_ends = threading.Event()
        self.stopping, self.closing = ExitStack(), ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.closing:
            self.stopping.close()

    def connect(self) -> None:
        """Connect to the topics that are sampled. Raises StackError."""
        _ = self.publisher, self.sampler

    def checkpoint_of(self, run: ProgramRun) -> Checkpoint:
        """The program's checkpoint. Always the same object, as it remembers files that Spark has removed."""
        return self._checkpoints[run.name]

    def _checkpoint_at(self, run: ProgramRun) -> Checkpoint:
        prefix = self._checkpoint_prefix if run is self.main else f"{self._checkpoint_prefix}-{run.name}"
        return Checkpoint(self.client, CHECKPOINTS, prefix, run.configured.topics.sources)

    def _write_hosts(self, parts: frozenset[str]) -> HostsFile | None:
        if not parts:
            return None
        directory = self.context.guardian.directory / f"{self.name}-names"
        directory.mkdir()
        return HostsFile.write(directory, parts)

    def _make_run(self, resolved: ResolvedProgram, places: Places) -> ProgramRun:
        """The main program has the arm's checkpoint and directory; each other program has its own below."""
        context, program, is_main = self.context, resolved.name, resolved is self.resolved.main
        directory = self.directory if is_main else self.directory / program
        directory.mkdir(exist_ok=True)
        own = places if is_main else replace(places, checkpoint=f"{places.checkpoint}-{program}")
        spec, container = self.scenario.programs.get(program), self.scenario.container
        supervisor, configured, settings = self.resolved.supervisor, resolved.at(own), resolved.launch
        raw = settings.raw_config.text if settings.raw_config else None

        def value_of(place: str) -> str:
            return placeholder_value(place, self.name, own, configured.topics)

        return ProgramRun(
            program,
            configured,
            ProgramContext(
                guardian=context.guardian,
                stack=context.stack,
                arm=self.name,
                directory=directory,
                logs=self.directory / "logs",
                source_partitions=self.scenario.kafka.topics.source.partitions,
                ui=context.ui,
                debugger=context.debugger if is_main else None,
                scratch=context.guardian.directory / self.name / (program or ONLY) if container else settings.scratch,
                limits=container,
                environment=settings.variables,
                start=self.scenario.arms[self.name].start,
                slots=settings.slots,
                executors=settings.executors,
                spark=settings.spark,
                arguments=settings.arguments,
                hosts=self.hosts,
                raw_config=raw and filled([raw], value_of)[0],
                fill=lambda text: filled_where_known(text, value_of),
            ),
            Policy(
                supervisor,
                spec.restart if spec else "always",
                spec.needs if spec else (),
                container,
                may_refuse=is_main and self.scenario.may_refuse(self.name),
                may_never_run=self.scenario.may_never_run(self.name, program),
                variables=resolved.variables,
                seed=self.scenario.traffic.seed,
            ),
            ProgramState(complaints=FirstComplaints(limits_of_kit(self.scenario.kafka))),
        )

    # Connected at first use.

    @functools.cached_property
    def publisher(self) -> Publisher:
        """Not started; it connects at its start, and `publishing_ends` stops it."""
        fate = self.expected_fate(self.truth)
        return self.traffic.publisher(self.bootstrap, self.topics.source, self.publishing_ends, fate)

    def expected_fate(self, truth: JobTruth | None) -> ExpectedFate:
        """What has to become of an event by the expected output of a job, and by the pages' errors in this arm."""
        of_events = self.traffic.errors_of_events(lambda errors: self.scenario.key_of(errors, self.name))
        fate = truth.expected if truth else stated
        return with_errors_of(self.scenario.errors_of_pages(self.name), fate, of_events)

    @functools.cached_property
    def truth(self) -> JobTruth | None:
        """The expected output of the main program's job, by the mock's pages."""
        return truth_of(self.main.configured, self.context.stack.mock_api, self.traffic.dump)

    @property
    def has_drained(self) -> bool:
        """Whether nothing waits: for the main program, nor for one that reads what another one writes."""
        waiting = self.state.sample.waiting
        return self.main.state.drained and all(
            waiting.get(name) == 0 and name not in self.sampler.not_answered for name in self.followers
        )

    @functools.cached_property
    def followers(self) -> dict[str, FollowerOffsets]:
        """How far programs have come that read what others write, by their name, each behind the one that it reads: at
        a look nothing is then between two of them. Raises StackError.
        """
        offsets = {run.name: self._follower(run) for run in self.chained}
        followers = {name: follower for name, follower in offsets.items() if follower is not None}
        for follower in followers.values():
            self.closing.callback(follower.close)
        return followers

    @property
    def revisions_file(self) -> Path:
        """The CSV file with the revision that the traffic's dump has of each entity, where there is one."""
        return (self.directory / "revisions.csv").absolute()

    @property
    def applied(self) -> AppliedOffsets | None:
        """How far the program has come that writes to the triple store; None without one."""
        return next((it for it in self.followers.values() if isinstance(it, AppliedOffsets)), None)

    @functools.cached_property
    def chained(self) -> tuple[ProgramRun, ...]:
        """The programs that read nothing but what others of the arm write, each behind the one that it reads."""
        chained: list[ProgramRun] = []
        written, left = {self.topics.output}, [*self.programs[1:]]
        while found := [run for run in left if written.issuperset(run.configured.topics.sources)]:
            chained += found
            written |= {run.configured.topics.output for run in found}
            names = {run.name for run in found}
            left = [run for run in left if run.name not in names]
        return tuple(chained)

    def _follower(self, run: ProgramRun) -> FollowerOffsets | None:
        shown = run.configured.follows(run.context)
        if shown is not None or not run.view.has_checkpoint:
            return shown
        topics = run.configured.topics
        return CommittedOffsets(self.checkpoint_of(run), topics.sources, self._deferrals_in(topics))

    @functools.cached_property
    def emissions(self) -> Emissions | None:
        """What the main program has emitted, where its events wait in its state; None where its commits say that."""
        topics, truth = self.topics.written, cast("object", self.truth)  # it may have both protocols
        if not isinstance(truth, FatesTogether):
            return None
        return Emissions(lambda: itertools.chain.from_iterable(read_topic(self.bootstrap, name) for name in topics))

    @functools.cached_property
    def deferrals(self) -> Deferrals:
        """Empty if the main program's configuration defers nothing. Raises StackError."""
        return self._deferrals_in(self.topics)

    def _deferrals_in(self, topics: ProgramTopics) -> Deferrals:
        deferrals = DeferralTopic(self.bootstrap, topics.deferral) if topics.defers else NoDeferrals()
        self.closing.callback(deferrals.close)
        return deferrals

    @functools.cached_property
    def sampler(self) -> Sampler:
        """Samples topics and checkpoint of the main program, and the processes of all programs. Raises StackError."""
        ends, topics = self._ends, self.topics
        skew = EventTimeSkew(lambda first: self.publisher.landed(first))
        return Sampler(
            counts=self.context.stack.mock_api.counts,
            topics=SampledTopics(sources=topics.sources, output=topics.output, errors=topics.errors),
            ends=ends,
            committed=self._committed,
            deferrals=self.deferrals,
            usage=TreeUsage(self.main.tree, first=self.main.first_pid),
            clock=self.clock.now_s,
            name=self.main.name,
            beside={run.name: TreeUsage(run.tree, first=run.first_pid) for run in self.programs[1:]},
            skew=skew.seconds,
            event_times=skew.reached,
            followers=self.followers,
            stopped=lambda: self.faults.stopped,
        )

    @functools.cached_property
    def _ends(self) -> TopicEnds:
        ends = TopicEnds(self.bootstrap)
        self.closing.callback(ends.close)
        return ends

    @functools.cached_property
    def _stated_offsets(self) -> StatedOffsetsReader:
        reader = StatedOffsetsReader(self.bootstrap, self.topics.sources, self._ends.of, lambda: self.clock.began_ms)
        self.closing.callback(reader.close)
        return reader

    def stated_offsets(self) -> StatedOffsets | None:
        """What is where the main program says that it keeps its offsets; None where it does not. Raises StackError."""
        stated = self.main.state.stated_offsets
        return None if stated is None else self._stated_offsets.read(stated)

    def _committed(self) -> Offsets:
        stated = self.stated_offsets()
        return self.checkpoint.committed() if stated is None else stated.offsets

    def pause(self, phase: Phase) -> float | None:
        """Seconds that the arm was paused at this point, with its clock stopped; None if it was not paused."""
        with self.clock.paused():
            return self.context.pauses.at(phase, self.name)
