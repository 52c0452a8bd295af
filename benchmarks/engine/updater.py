"""What keeping a triple store up to date costs: operations through rdf-resolve and apply together, and apply alone.

    together   a backlog of operations into an empty store, as fast as both programs go: with the last revisions kept by
               rdf-resolve, and without; the mock renders each revision anew
    alone      the second half of the first run's mutations, nearly all of them diffs: at so many a request, and once
               beside other triples; each run begins with the same copy of a store that has the first half

The result of each run is compared with the truth: a wrong one ends the bench.
"""

import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.contestant import Place
from benchmarks.engine.mutations import Mutation, WholeMutations, applied_at, bound_for, read_mutations
from benchmarks.engine.operations import DOMAIN, WIKI, Operations
from benchmarks.engine.race import STEADY, Stretch, stretch
from benchmarks.engine.rounds import say
from benchmarks.engine.spark_engine import Engine
from benchmarks.engine.stack import BenchStack, RunTopics, bench_stack
from benchmarks.engine.store_runs import AppliedRun, TripleStoreRuns
from benchmarks.engine.usage import format_cores
from benchmarks.engine.versions import PACKAGES
from benchmarks.engine.workload import LATENCY
from benchmarks.results import keep
from devkit.errors import StackError, UsageError
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.rdf_truth import RdfTruth
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.observe.store_difference import EntityTruth
from devkit.stack.stack import CLAIM_CHECKS
from mockapi.rules.model import Rule
from pipeline.config.apply_config import ONE_MUTATION

SOURCE = "bench.operations"
REFERENCE = {"together": "50 operations/s sustained on 2 cores", "alone": "stated"}
_KEPT, _NOT_KEPT = "last revisions kept", "not kept"
_A_REQUEST = (1, 20, 100)
_BESIDE_OTHERS = 20
_PACKAGES = (*PACKAGES, "pyoxigraph", "oxigraph")


def updater(count: int, seed: int, stored_triples: int, *, directory: Path, name: str) -> None:
    """Prints the figures of all runs and keeps them as `name`. The store of the last run has so many triples more.

    Raises StackError where an operation ends as an error, or the store is not as it must be.
    """
    work = Operations(count, seed)
    together: dict[str, Any] = {}
    with bench_stack(directory / "stack", store=True) as stack, stack.topics(SOURCE, out_partitions=1) as topics:
        bench = _Bench(stack, TripleStoreRuns(stack), work, directory)
        described = work.describe(bench.events)
        say(
            f"{described['operations']:,} operations on {described['entities']:,} entities, "
            f"{_listed(described['by_kind'])}; by statements {_listed(described['by_statements'])}; mock at {LATENCY}"
        )
        say(f"\n{'together':<24}{'steady':>10}{'whole':>10}   reference: {REFERENCE['together']}")
        mutations, together[_KEPT] = bench.run_together(_KEPT, topics, "64MiB")
        with stack.topics(SOURCE, out_partitions=1) as others:
            _, together[_NOT_KEPT] = bench.run_together(_NOT_KEPT, others, 0)
        say(f"\n{'alone, a request':<40}{'really':>8}{'mutations':>12}{'triples':>12}")
        alone = bench.run_alone(topics.out, mutations, stored_triples)
    kept = {"work": {**described, "seed": seed, "latency": LATENCY}, "reference": REFERENCE}
    keep(name, {**kept, "settings": Engine().settings, "together": together, "alone": alone}, packages=_PACKAGES)


@dataclass
class _Bench:
    stack: BenchStack
    runs: TripleStoreRuns
    work: Operations
    directory: Path

    def __post_init__(self) -> None:
        self.stack.make_source(SOURCE)
        self.events: Sequence[SourceEvent] = self.work.publish(self.stack.kafka.bootstrap, SOURCE)
        self._truths: Sequence[EntityTruth] = ()

    def run_together(
        self, label: str, topics: RunTopics, keep_last: str | int
    ) -> tuple[list[Mutation], Mapping[str, Any]]:
        """The mutations that were written, and the figures. `keep_last` is the setting of that name."""
        rules = [Rule.model_validate({"name": "all", "do": {"latency": LATENCY}})]
        self.stack.mock.populate(seed=self.work.mock_seed, catalog=self.work.catalog, rules=rules)
        self.runs.restore()
        place = Place(self.stack, topics, self.work.count, self.directory / label.replace(" ", "-"))
        place.directory.mkdir(parents=True)
        engine = Engine(name="resolve", overrides=_job(topics, keep_last))
        out, *errors = map(self.stack.log, (topics.out, topics.errors, topics.failures))
        whole = WholeMutations(out)

        def is_done(offset: int) -> bool:
            for log in errors:
                if log.look():
                    first = next(log.records())
                    raise StackError(
                        f"{label}: {log.count} operations ended as errors, the first: {first.value!r:.500}"
                    )
            return whole.look() >= self.work.count and offset >= out.count

        began_s = time.time()
        (process,) = engine.start(place)
        try:
            run = self.runs.run(
                topics.out, {}, directory=place.directory / "apply", is_done=is_done, beside={"resolve": process}
            )
        finally:
            process.kill_tree()
        shutil.rmtree(place.directory / "checkpoint", ignore_errors=True)
        mutations = [*read_mutations(out.records())]
        self._require_truth(label, engine, place)
        figures = _figures_together(run, mutations, began_s)
        _say_together(label, figures)
        return mutations, figures

    def run_alone(self, topic: str, mutations: Sequence[Mutation], stored_triples: int) -> Mapping[str, Any]:
        """The figures by number of mutations a request; the last ones are those beside other triples."""
        half = mutations[len(mutations) // 2].next_offset
        self.runs.restore()
        # One mutation a request, as it then ends soon behind the half.
        settings = {"batch_triples": ONE_MUTATION}
        self.runs.run(topic, settings, directory=self.directory / "half", is_done=lambda offset: offset >= half)
        self.runs.copy()
        left = [mutation for mutation in mutations if mutation.next_offset > half]
        figures = {f"{requested}": self._run_left(topic, left, requested) for requested in _A_REQUEST}
        beside = f"{_BESIDE_OTHERS}, beside {stored_triples:,} triples"
        return {**figures, beside: self._run_left(topic, left, _BESIDE_OTHERS, stored_triples)}

    def _run_left(
        self, topic: str, left: Sequence[Mutation], requested: int, stored_triples: int = 0
    ) -> Mapping[str, Any]:
        label = f"{requested} a request{f', beside {stored_triples:,} triples' if stored_triples else ''}"
        self.runs.restore()
        self.runs.change_filler("INSERT", stored_triples)
        bound = bound_for([mutation.weight for mutation in left], requested)
        end = left[-1].next_offset
        run = self.runs.run(
            topic,
            {"batch_triples": bound},
            directory=self.directory / label.replace(" ", "-"),
            is_done=lambda offset: offset >= end,
            is_first=False,
        )
        self.runs.change_filler("DELETE", stored_triples)
        self.runs.require_truth(self._truths, label)
        if not run.counts["requests"]:
            raise UsageError("no mutations were left to measure", hint="take more --operations")
        figures = {
            "batch_triples": bound,
            "mutations_a_request": round(run.counts["mutations"] / run.counts["requests"], 1),
            "mutations_per_second": round(run.counts["mutations"] / run.seconds, 1),
            "triples_per_second": round((run.counts["inserted"] + run.counts["deleted"]) / run.seconds),
            "seconds": round(run.seconds, 2),
            "applied": dict(run.counts),
            "cores": run.cores(run.began_ms, run.looks[-1][0]),
            "others_cpu_s": round(run.usage.others_cpu_s, 1),
        }
        _say_alone(label, figures)
        return figures

    def _require_truth(self, label: str, engine: Engine, place: Place) -> None:
        if not self._truths:
            wiki = WikiAnswers(html=self.stack.mock.truth, body=self.stack.mock.truth_at)
            self._truths = [*RdfTruth(engine.configuration(place), wiki).stored(self.events)]
        self.runs.require_truth(self._truths, label)


def _job(topics: RunTopics, keep_last: str | int) -> Mapping[str, Any]:
    return {
        "job": "rdf-resolve",
        "sink": {"fetch_failure_topic": topics.failures},
        "mediawiki": {"wikis": {WIKI: DOMAIN}},
        "claim_check": {"bucket": CLAIM_CHECKS},
        "rdf": {"keep_last": keep_last},
    }


def _figures_together(run: AppliedRun, mutations: Sequence[Mutation], began_s: float) -> dict[str, Any]:
    times_ms = applied_at(mutations, run.looks)
    steady = stretch(times_ms, *STEADY)
    written = stretch([mutation.at_ms for mutation in mutations], *STEADY)
    during = [
        mutation.operation
        for mutation, at_ms in zip(mutations, times_ms, strict=True)
        if steady.begin_ms < at_ms <= steady.end_ms
    ]
    return {
        "steady": round(steady.rate, 1),
        "whole": round(len(mutations) / (times_ms[-1] / 1000 - began_s), 1),
        "first_applied_s": round(times_ms[0] / 1000 - began_s, 1),
        "resolved_steady": round(written.rate, 1),
        "applied_after_resolved_s": round((times_ms[-1] - mutations[-1].at_ms) / 1000, 1),
        "steady_by_kind": dict(Counter(during)),
        "steady_cores": run.cores(steady.begin_ms, steady.end_ms),
        "steady_cpu_ms_an_operation": _cpu_ms(run, steady),
        "peak_rss_mib": {role: round(used.peak_rss / 2**20) for role, used in run.usage.by_role.items()},
        "others_cpu_s": round(run.usage.others_cpu_s, 1),
        "mutations": len(mutations),
        "triples": sum(mutation.triples for mutation in mutations),
        "records": sum(mutation.chunks for mutation in mutations),
        "applied": dict(run.counts),
    }


def _cpu_ms(run: AppliedRun, steady: Stretch) -> dict[str, float]:
    used = run.usage.between(steady.begin_ms / 1000, steady.end_ms / 1000)
    return {role: round(1000 * cpu_s / max(steady.count, 1), 2) for role, cpu_s in sorted(used.items())}


def _say_together(label: str, figures: Mapping[str, Any]) -> None:
    say(f"{label:<24}{figures['steady']:>8}/s{figures['whole']:>8}/s   {format_cores(figures['steady_cores'])}")
    say(
        f"{'':<24}{figures['mutations']:,} mutations of {figures['triples']:,} triples in {figures['records']:,} "
        f"records, {figures['applied']['requests']:,} requests; others used {figures['others_cpu_s']} s"
    )


def _say_alone(label: str, figures: Mapping[str, Any]) -> None:
    say(
        f"{label:<40}{figures['mutations_a_request']:>8}{figures['mutations_per_second']:>10}/s"
        f"{figures['triples_per_second']:>10}/s   {format_cores(figures['cores'])}; "
        f"apply.batch_triples {figures['batch_triples']:,}"
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items())
