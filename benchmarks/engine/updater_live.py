"""The whole updater, from the events of a Wikibase to the store: rdf-decide, rdf-resolve and apply together.

    latency      events at a pace below what it can do: from an event's publishing until the store has it
    sustained    events at the pace that it has to keep up with: does the number of those that wait grow
    backlog      events that wait when the programs start: how many a second they work off

Each run has fresh topics and an empty store. Afterwards each entity is compared with its last revision: a wrong one,
an error event and an event that came too late end the bench.
"""

import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.engine.contestant import Place
from benchmarks.engine.event_latency import (
    Passage,
    by_group,
    join_passages,
    mean_waiting,
    quantiles,
    rate_between,
    read_decided,
    waiting_at,
)
from benchmarks.engine.mutations import WholeMutations, applied_at, read_mutations
from benchmarks.engine.operations import DOMAIN, WIKI
from benchmarks.engine.race import STEADY, stretch
from benchmarks.engine.rounds import say
from benchmarks.engine.source_feed import SourceFeed
from benchmarks.engine.source_traffic import CANARIES_EVERY, MIX, SourceTraffic, backlog_traffic, paced_traffic
from benchmarks.engine.spark_engine import Engine
from benchmarks.engine.stack import BenchStack, RunTopics, bench_stack
from benchmarks.engine.store_runs import AppliedRun, TripleStoreRuns
from benchmarks.engine.topic_log import TopicLog
from benchmarks.engine.usage import format_cores
from benchmarks.engine.versions import PACKAGES
from benchmarks.engine.workload import LATENCY
from benchmarks.results import keep
from devkit.errors import StackError
from devkit.event_bus.wikibase_record import WIKIBASE_TOPICS
from devkit.observe.expected_output.decide_truth import DecideTruth
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.stack.stack import CLAIM_CHECKS
from devkit.stack.topics import recreate_topics
from mockapi.rules.model import Rule
from pipeline.jobs.names import JOB_DEFAULTS

REFERENCE = {
    "latency": "stated",
    "sustained": "50 events/s on 2 cores, and as many wait at the end as at the beginning",
    "backlog": "stated",
}
REORDER = timedelta(seconds=5)
_DAY_S = 86_400
_PARTS = 4
_PUBLISHING_S = 600
_PACKAGES = (*PACKAGES, "protobuf", "pyoxigraph", "oxigraph")
# Events bring their own time, which may be long ago.
_SOURCE_TOPIC = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
_SIDE_TOPIC = {"message.timestamp.type": "LogAppendTime"}
_TITLES = {"continuing": "continue the last revision", "window": "wait for the window", "behind": "behind such a one"}
STAGES = ("decided", "resolved", "applied")


@dataclass(frozen=True)
class LiveSizes:
    """Rates in events a second. `warm` is how long events are published before those that count."""

    latency_rate: int = 20
    sustained_rate: int = 50
    length: timedelta = timedelta(minutes=2)
    warm: timedelta = timedelta(seconds=30)
    backlog: int = 6_000


FAST = LiveSizes(length=timedelta(seconds=15), warm=timedelta(seconds=5), backlog=500)


def updater_live(sizes: LiveSizes, seed: int, *, directory: Path, name: str) -> None:
    """Prints the figures of all runs and keeps them as `name`.

    Raises StackError where an event ends as an error or comes too late, or the store is not as it must be.
    """
    engine = Engine()
    with bench_stack(directory / "stack", store=True) as stack:
        bench = _Bench(stack, TripleStoreRuns(stack), directory, engine.settings)
        window = REORDER.total_seconds()
        say(f"updater.reorder {window:g} s, which is in the times; canaries every {CANARIES_EVERY.total_seconds():g} s")
        say(f"mock at {LATENCY}; {len(WIKIBASE_TOPICS)} source topics of one partition")
        latency = bench.run_latency(sizes, seed)
        sustained = bench.run_sustained(sizes, seed)
        backlog = bench.run_backlog(sizes, seed)
    work = {"mix": MIX, "seed": seed, "latency": LATENCY, "reorder_s": window, "warm_s": sizes.warm.total_seconds()}
    runs = {"latency": latency, "sustained": sustained, "backlog": backlog}
    keep(name, {"work": work, "reference": REFERENCE, "settings": engine.settings, **runs}, packages=_PACKAGES)


@dataclass(frozen=True)
class _Run:
    """`passages` are those of all events, in the order of their publishing; those count that are published from
    `begin_ms` on. `end_ms` is the last one's publishing. Without an operation are events that change nothing.
    """

    applied: AppliedRun
    passages: Sequence[Passage]
    started_ms: int
    begin_ms: int
    end_ms: int
    without_operation: int

    @property
    def counted(self) -> Sequence[Passage]:
        return [passage for passage in self.passages if passage.published_ms >= self.begin_ms]

    def figures(self, begin_ms: int, end_ms: int) -> dict[str, Any]:
        """What all runs have, with the cores used in that time."""
        usage = self.applied.usage
        return {
            "operations": len(self.passages),
            "without_operation": self.without_operation,
            "cores": self.applied.cores(begin_ms, end_ms),
            "peak_rss_mib": {role: round(used.peak_rss / 2**20) for role, used in usage.by_role.items()},
            "others_cpu_s": round(usage.others_cpu_s, 1),
            "applied": dict(self.applied.counts),
        }


class _Logs:
    """What both jobs have written, followed as it grows."""

    def __init__(self, stack: BenchStack, decided: RunTopics, resolved: RunTopics, side: Sequence[str]) -> None:
        self.operations, self.mutations = stack.log(decided.out), stack.log(resolved.out)
        self._whole = WholeMutations(self.mutations)
        lapsed, inconsistent = map(stack.log, side)
        self.inconsistent: TopicLog = inconsistent
        self._failures = {
            "events ended as errors of rdf-decide": stack.log(decided.errors),
            "events came later than updater.reorder": lapsed,
            "operations ended as errors of rdf-resolve": stack.log(resolved.errors),
            "operations could not be fetched": stack.log(resolved.failures),
        }

    def require_none_failed(self, label: str) -> None:
        """Raises StackError."""
        for what, log in self._failures.items():
            if log.look():
                first = next(log.records())
                raise StackError(f"{label}: {log.count} {what}, the first: {first.value!r:.500}")

    def is_done(self, events: int, offset: int) -> bool:
        """Whether something came of so many events, and the store has all of it."""
        operations = self.operations.look()
        if operations + self.inconsistent.look() < events:
            return False
        whole = self._whole.look()
        return whole >= operations and offset >= self.mutations.count


@dataclass
class _Bench:
    stack: BenchStack
    runs: TripleStoreRuns
    directory: Path
    settings: dict[str, Any]

    def run_latency(self, sizes: LiveSizes, seed: int) -> Mapping[str, Any]:
        """By group of events, from publishing to each stage."""
        label = f"latency, {sizes.latency_rate}/s for {sizes.length.total_seconds():g} s"
        run = self._run_paced("latency", sizes.latency_rate, sizes, seed)
        say(f"\n{label:<36}{'events':>8}{'p50':>10}{'p99':>10}{'most':>10}   p50 until decided, resolved, applied")
        groups = {
            group: figures for group, passages in by_group(run.counted).items() if (figures := _latency(passages))
        }
        for group, figures in groups.items():
            _say_latency(group, figures)
        figures = run.figures(run.begin_ms, run.end_ms)
        _say_cores(figures)
        return {"rate": sizes.latency_rate, "by_group": groups, **figures}

    def run_sustained(self, sizes: LiveSizes, seed: int) -> Mapping[str, Any]:
        """How many events wait, by quarter of the time that counts and at its end."""
        label = f"sustained, {sizes.sustained_rate}/s for {sizes.length.total_seconds():g} s"
        run = self._run_paced("sustained", sizes.sustained_rate, sizes, seed)
        begin_ms, end_ms = run.begin_ms, run.end_ms
        bounds = [begin_ms + (end_ms - begin_ms) * n // _PARTS for n in range(_PARTS + 1)]
        quarters = [round(mean_waiting(run.passages, *bound), 1) for bound in pairwise(bounds)]
        at_end = waiting_at(run.passages, end_ms)
        published, applied = (
            round(rate_between(times_ms, begin_ms, end_ms), 1)
            for times_ms in zip(*((p.published_ms, p.applied_ms) for p in run.passages), strict=True)
        )
        figures = run.figures(begin_ms, end_ms)
        say(f"\n{label:<36}{'published':>12}{'applied':>12}   waiting, mean by quarter; at the end")
        say(
            f"{'':<36}{published:>10}/s{applied:>10}/s   {', '.join(map(str, quarters))}; {at_end.events:,} events, "
            f"the oldest for {at_end.oldest_s:.1f} s"
        )
        _say_cores(figures)
        waiting = {"mean_by_quarter": quarters, "at_end": at_end.events, "at_end_oldest_s": at_end.oldest_s}
        rates = {"published_per_second": published, "applied_per_second": applied}
        return {"rate": sizes.sustained_rate, **rates, "waiting": waiting, **figures}

    def run_backlog(self, sizes: LiveSizes, seed: int) -> Mapping[str, Any]:
        """Rates of all three together, and of each stage beside the others."""
        label = f"backlog, {sizes.backlog:,} events"
        source = backlog_traffic(sizes.sustained_rate, sizes.backlog, seed)
        run = self._run("backlog", source, timedelta(0), is_backlog=True)
        stages = {
            stage: stretch(sorted(getattr(passage, f"{stage}_ms") for passage in run.passages), *STEADY)
            for stage in STAGES
        }
        steady = stages["applied"]
        whole = 1000 * len(run.passages) / (max(p.applied_ms for p in run.passages) - run.started_ms)
        rates = {f"{stage}_steady": round(part.rate, 1) for stage, part in stages.items()}
        figures = run.figures(steady.begin_ms, steady.end_ms)
        outage = outage_figures(steady.rate, sizes.sustained_rate)
        say(f"\n{label:<36}{'steady':>10}{'whole':>12}   steady rate at which they are decided, resolved, applied")
        say(f"{'':<36}{steady.rate:>8.1f}/s{whole:>10.1f}/s   {', '.join(f'{rate}/s' for rate in rates.values())}")
        _say_cores(figures)
        say(f"{'':<36}{_outage_line(outage, sizes.sustained_rate)}")
        return {"whole": round(whole, 1), **rates, "extrapolated": outage, **figures}

    def _run_paced(self, label: str, rate: int, sizes: LiveSizes, seed: int) -> _Run:
        return self._run(label, paced_traffic(rate, sizes.warm + sizes.length, seed), sizes.warm, is_backlog=False)

    def _run(self, label: str, source: SourceTraffic, warm: timedelta, *, is_backlog: bool) -> _Run:
        stack, directory = self.stack, self.directory / label
        bootstrap = stack.kafka.bootstrap
        rules = [Rule.model_validate({"name": "all", "do": {"latency": LATENCY}})]
        stack.mock.populate(seed=source.mock_seed, catalog=source.catalog, rules=rules)
        self.runs.restore()
        side = tuple(f"{label}.{kind}" for kind in ("lapsed", "inconsistent"))
        recreate_topics(bootstrap, dict.fromkeys(WIKIBASE_TOPICS, (1, _SOURCE_TOPIC)))
        recreate_topics(bootstrap, dict.fromkeys(side, (1, _SIDE_TOPIC)))
        feed = SourceFeed(bootstrap, source)
        if is_backlog:
            feed.publish(_PUBLISHING_S)
        with stack.topics("") as decided, stack.topics(decided.out, out_partitions=1) as resolved:
            logs = _Logs(stack, decided, resolved, side)
            started_ms = time.time_ns() // 1_000_000
            with ExitStack() as running:
                if not is_backlog:
                    running.enter_context(feed.canaries())
                places, engines = self._jobs(label, decided, resolved, side)
                processes = {}
                for job, engine in engines.items():
                    (processes[job],) = engine.start(places[job])
                    running.callback(processes[job].kill_tree)
                first_batch = places["decide"].directory / "checkpoint" / "commits" / "0"

                def is_done(offset: int) -> bool:
                    logs.require_none_failed(label)
                    if not feed.is_started and first_batch.exists():
                        feed.start()
                    return feed.is_out() and logs.is_done(len(feed.published), offset)

                run = self.runs.run(resolved.out, {}, directory=directory / "apply", is_done=is_done, beside=processes)
            for place in places.values():
                shutil.rmtree(place.directory / "checkpoint", ignore_errors=True)
            wiki = WikiAnswers(html=stack.mock.truth, body=stack.mock.truth_at)
            truth = DecideTruth(engines["decide"].configuration(places["decide"]), wiki)
            self.runs.require_truth([*truth.stored(feed.events)], label)
            published, mutations = feed.published, [*read_mutations(logs.mutations.records())]
            joined = join_passages(
                published, read_decided(logs.operations.records()), mutations, applied_at(mutations, run.looks)
            )
        passages = sorted(joined.values(), key=lambda passage: passage.published_ms)
        begin_ms = passages[0].published_ms + round(warm.total_seconds() * 1000)
        end_ms = passages[-1].published_ms
        return _Run(run, passages, started_ms, begin_ms, end_ms, len(published) - len(passages))

    def _jobs(
        self, label: str, decided: RunTopics, resolved: RunTopics, side: Sequence[str]
    ) -> tuple[Mapping[str, Place], Mapping[str, Engine]]:
        lapsed, inconsistent = side
        both = {"mediawiki": {"wikis": {WIKI: DOMAIN}}, "claim_check": {"bucket": CLAIM_CHECKS}}
        decide = {
            **both,
            "job": "rdf-decide",
            "sink": {"lapsed_topic": lapsed, "inconsistency_topic": inconsistent},
            "updater": {"reorder": f"{REORDER.total_seconds():g}s"},
        }
        resolve = {
            **both,
            "job": "rdf-resolve",
            "sink": {"fetch_failure_topic": resolved.failures},
            "fetch": {"concurrency": JOB_DEFAULTS["rdf-resolve"].concurrency},
        }
        engines = {
            "decide": Engine(self.settings, name="decide", overrides=decide, source_topics=WIKIBASE_TOPICS),
            "resolve": Engine(self.settings, name="resolve", overrides=resolve),
        }
        topics = {"decide": decided, "resolve": resolved}
        places = {job: Place(self.stack, topics[job], 0, self.directory / label / job) for job in engines}
        for place in places.values():
            place.directory.mkdir(parents=True)
        return places, engines


def outage_figures(rate: float, arriving: int) -> dict[str, Any]:
    """What a backlog of a day would take at a rate of events a second, in hours: by itself, and while events go on to
    arrive; None where they arrive as fast as that.
    """
    events = arriving * _DAY_S
    arriving_h = None if rate <= arriving else round(events / (rate - arriving) / 3600, 1)
    return {"events": events, "hours": round(events / rate / 3600, 1), "hours_while_events_arrive": arriving_h}


def _outage_line(outage: Mapping[str, Any], arriving: int) -> str:
    hours = outage["hours_while_events_arrive"]
    meanwhile = "never" if hours is None else f"{hours} h"
    return (
        f"extrapolated: a day's outage at {arriving}/s, {outage['events']:,} events: {outage['hours']} h, and while "
        f"{arriving}/s arrive {meanwhile}"
    )


def _latency(passages: Sequence[Passage]) -> dict[str, Any] | None:
    """Of a group; None of less than two events."""
    whole = quantiles([passage.seconds for passage in passages])
    if whole is None:
        return None
    stages = {
        stage: quantiles([(getattr(p, f"{stage}_ms") - p.published_ms) / 1000 for p in passages]) for stage in STAGES
    }
    return {**whole.figures(), "p50_s_until": {stage: times.p50 for stage, times in stages.items() if times}}


def _say_latency(group: str, figures: Mapping[str, Any]) -> None:
    until = ", ".join(f"{seconds:.2f} s" for seconds in figures["p50_s_until"].values())
    say(
        f"{_TITLES[group]:<36}{figures['events']:>8,}{figures['p50_s']:>8.2f} s{figures['p99_s']:>8.2f} s"
        f"{figures['most_s']:>8.2f} s   {until}"
    )


def _say_cores(figures: Mapping[str, Any]) -> None:
    say(
        f"{'':<36}{format_cores(figures['cores'])}; {figures['operations']:,} operations, "
        f"{figures['without_operation']:,} events without one; others used {figures['others_cpu_s']} s"
    )
