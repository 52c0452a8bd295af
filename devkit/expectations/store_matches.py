"""What the triple store has at the arm's end, and how far it was from what was expected while it was written to.

store_matches        whether every entity that the traffic touched has the triples of its last revision
differing_entities   number of those that have not
divergence           share of the triples asked about, under `apply.count: probe`, that the store should have had
and had not, or had and should not have had
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from devkit.expectations.base import ExpectationKind, Finding, Measure
from devkit.expectations.bounds import ShareBound
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.timing import arm_window, drain_window
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.samples.metrics import Scraped
from devkit.observe.store_difference import StoreDifference
from located_config.count import counted
from located_config.share import format_share
from pipeline.metrics.apply_catalogue import DIVERGING, PROBED

_SHOWN = 3
_UNKNOWN = "no program applies the output of a job with a known truth"
_NOTHING_COMPARED = f"{_UNKNOWN}, or the traffic touched no entity"


def _check_applies(_argument: Any, arm: CheckedArm) -> Iterator[Flaw]:
    if not any(program.program.needs_triple_store for program in arm.programs.values()):
        yield Flaw("no program writes to a triple store: add one with `run: apply` to `programs`")


def _describe(difference: StoreDifference) -> str:
    shown = ", ".join(str(entity) for entity in difference.differing[:_SHOWN])
    more = len(difference.differing) - _SHOWN
    names = f": {shown}{f' and {more} more' if more > 0 else ''}" if shown else ""
    orphans = f", {counted(difference.orphans, 'orphaned triple')}" if difference.orphans else ""
    return f"{len(difference.differing)} of {counted(difference.entities, 'entity', 'entities')} differ{names}{orphans}"


@dataclass(frozen=True, kw_only=True)
class _StoreMatches(ExpectationKind):
    name: str = "store_matches"
    summary: str = (
        "At the arm's end every entity that the traffic touched has exactly the triples of its last revision in the "
        "triple store, and none if it was deleted. Shared triples that no entity links any more do not count; those "
        "of a node that an entity links do."
    )
    example: str = "true"
    argument: Any = bool

    def judge(self, argument: bool, observation: ArmObservation) -> Finding:
        difference, expected = observation.store, str(argument).lower()
        if difference is None:
            return Finding(self.name, expected, f"n/a: {_UNKNOWN}", holds=None)
        holds = (not difference.differing) == argument
        return Finding(self.name, expected, _describe(difference), holds if difference.entities else None)

    def check(self, argument: bool, arm: CheckedArm) -> Iterator[Flaw]:
        """A program has to write to a store."""
        yield from _check_applies(argument, arm)

    def bounds_progress(self, argument: bool, arm: ArmName) -> bool:  # noqa: ARG002
        """A store that lacks what was not written yet does not match."""
        return argument

    def depends_on_time(self, argument: bool, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return None if observation.drained else "arm"


def _count_differing(observation: ArmObservation) -> int | None:
    store = observation.store
    return len(store.differing) if store is not None and store.entities else None


def _format_differing(_count: int, observation: ArmObservation) -> str:
    assert observation.store is not None
    return _describe(observation.store)


def _highest(scraped: Scraped, name: str) -> float:
    return sum(value for (series, _labels), value in scraped.highest.items() if series == f"{name}_total")


def _divergence(observation: ArmObservation) -> float | None:
    pages = [program.metrics for program in observation.programs]
    probed = sum(_highest(page, PROBED.name) for page in pages)
    return sum(_highest(page, DIVERGING.name) for page in pages) / probed if probed else None


def _format_share(value: float, _observation: ArmObservation) -> str:
    return format_share(value)


STORE_MATCHES = _StoreMatches()
DIFFERING_ENTITIES = Measure[int](
    name="differing_entities",
    summary="Number of entities whose triples differ from those of their last revision at the arm's end.",
    example="{at_least: 5}",
    value=_count_differing,
    unknown=_NOTHING_COMPARED,
    format_value=_format_differing,
    timing=drain_window,
    flaws=_check_applies,
)
DIVERGENCE = Measure[float](
    name="divergence",
    summary=(
        "Share of the triples that the store was asked about that it should have had and had not, or had and should "
        "not have had. It needs `apply.count: probe`."
    ),
    example="{at_most: 1%}",
    argument=ShareBound,
    value=_divergence,
    unknown="the store was asked about no triple; set `apply.count: probe`",
    format_value=_format_share,
    timing=arm_window,
    flaws=_check_applies,
)
