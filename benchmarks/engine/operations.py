"""Operations on the entities of a Wikibase, eight of ten of them items, as the kit's generator makes them.

All but the share DELETES are edits: the first of an entity imports it, each other one is a diff. The mock draws how
many statements an entity has, from a seed with which the entities have exactly the shares of SIZES.
"""

import itertools
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import orjson

from devkit.observe.audit.source_event import SourceEvent
from devkit.scenario.traffic import ScenarioTraffic
from devkit.traffic.mix import Mix, apportion
from devkit.traffic.model import TrafficSpec
from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.wikibase.entity_rdf import statement_count

WIKI, DOMAIN = "wikidatawiki", "www.wikidata.org"
SIZES: Mapping[str, float] = {"50": 0.9, "500": 0.09, "5000": 0.01}
"""Share of the entities by their number of statements, which is within a fifth of the one named."""
DELETES = 0.01
_SPREAD = 1.2
_OPERATIONS_AN_ENTITY = 10
_FEWEST_ENTITIES = 10
_PUBLISHING = timedelta(minutes=2)


class Operations:
    """Equal counts and seeds give equal bytes. `mock_seed` is the one that the mock has to have."""

    def __init__(self, count: int, seed: int) -> None:
        entities = max(_FEWEST_ENTITIES, count // _OPERATIONS_AN_ENTITY)
        spec = TrafficSpec.model_validate(
            {
                "seed": seed,
                "rate": "1000/s",
                "for": f"{count}ms",
                "population": entities,
                "generator": "wikibase_change",
                "wikis": {WIKI: DOMAIN},
                "mix": {**dict.fromkeys(Mix.model_fields, 0), "delete": DELETES},
            }
        )
        self._traffic = ScenarioTraffic(spec)
        self.count = self._traffic.count
        self.catalog = self._traffic.catalog()
        self.mock_seed = find_seed(self.catalog, seed)

    def publish(self, bootstrap: str, topic: str) -> list[SourceEvent]:
        """Write all of them into the topic; returns them. Raises StackError."""
        publisher = self._traffic.publisher(bootstrap, topic, threading.Event())
        publisher.start()
        publisher.result((timedelta(milliseconds=self.count) + _PUBLISHING).total_seconds())
        return self._traffic.source_events(publisher)

    def describe(self, events: Sequence[SourceEvent]) -> dict[str, Any]:
        """How many entities and operations there are, by kind and by the entity's size."""
        sizes = {page.title.rpartition(":")[2]: size_of(page, self.mock_seed) for page in self.catalog}
        operations = [orjson.loads(event.value) for event in events]
        return {
            "operations": len(operations),
            "by_kind": dict(Counter(operation["op"] for operation in operations)),
            "by_statements": dict(Counter(sizes[operation["entity"]] for operation in operations)),
            "entities": len(self.catalog),
            "entities_by_statements": dict(Counter(sizes.values())),
        }


def find_seed(catalog: Sequence[CatalogPage], first: int) -> int:
    """The first seed from `first` on with which the entities have the shares of SIZES, as far as whole numbers do."""
    wanted = {size: count for size, count in apportion(len(catalog), SIZES).items() if count}
    return next(seed for seed in itertools.count(first) if Counter(size_of(page, seed) for page in catalog) == wanted)


def size_of(page: CatalogPage, seed: int) -> str:
    """Which of SIZES an entity has under a seed of the mock."""
    statements = statement_count(seed, Located(page, page.revisions[0]))
    return next(size for size in SIZES if statements <= _SPREAD * int(size))
