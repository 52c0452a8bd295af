"""Events of a Wikibase as its topics have them, for the updater as a whole.

All but the shares of MIX are revisions; the first of an entity imports it, each other one that continues the last is a
diff. Entities are as large as those of `benchmarks.engine.operations`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from benchmarks.engine.operations import DOMAIN, WIKI, find_seed
from devkit.scenario.traffic import ScenarioTraffic
from devkit.traffic.mix import Mix
from devkit.traffic.model import TrafficSpec

MIX: Mapping[str, float] = {"create": 0.02, "delete": 0.01, "undelete": 0.005}
CANARIES_EVERY = timedelta(seconds=1)
_EVENTS_AN_ENTITY = 10
_FEWEST_ENTITIES = 10
_BEHIND = timedelta(minutes=1)


class SourceTraffic:
    """Equal counts and seeds give equal entities. `mock_seed` is the one that the mock has to have."""

    def __init__(self, rate: int, length: timedelta, seed: int, more: Mapping[str, Any]) -> None:
        count = round(rate * length.total_seconds())
        spec = TrafficSpec.model_validate(
            {
                "seed": seed,
                "rate": f"{rate}/s",
                "for": _milliseconds(length),
                "population": max(_FEWEST_ENTITIES, count // _EVENTS_AN_ENTITY),
                "generator": "wikibase_source",
                "wikis": {WIKI: DOMAIN},
                "mix": {**dict.fromkeys(Mix.model_fields, 0), **MIX},
                **more,
            }
        )
        self.traffic = ScenarioTraffic(spec)
        self.catalog = self.traffic.catalog()
        self.mock_seed = find_seed(self.catalog, seed)


def paced_traffic(rate: int, length: timedelta, seed: int) -> SourceTraffic:
    """Events that happen when they are published. Canaries are published beside them."""
    return SourceTraffic(rate, length, seed, {"event_times": "when published"})


def backlog_traffic(rate: int, count: int, seed: int) -> SourceTraffic:
    """So many events that happened at that rate, published at once, with the canaries that all topics have meanwhile
    and one behind everything.
    """
    length = timedelta(seconds=count / rate)
    others = _milliseconds(length + _BEHIND)
    more = {
        "event_times": {"published": "at once"},
        "canaries": {"every": _milliseconds(CANARIES_EVERY), "closing": {"after": _milliseconds(_BEHIND)}},
        "wikibase_topics": {"active": {"eqiad": "0s", "codfw": others}},
    }
    return SourceTraffic(rate, length, seed, more)


def _milliseconds(length: timedelta) -> str:
    return f"{length // timedelta(milliseconds=1)}ms"
