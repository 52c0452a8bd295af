"""One measured point of the engine: a source of so many partitions, a configuration, a rate.

The rate is the race's steady one. A point ends when so many outputs are there; what is left in the source stays.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.race import Outcome, run
from benchmarks.engine.spark_engine import Engine, read_settings
from benchmarks.engine.stack import BenchStack
from benchmarks.engine.workload import SourceEvent, Workload
from devkit.programs.places import merge
from devkit.stack.topics import recreate_topics
from mockapi.rules.model import Rule
from pipeline.capacity.load import Executors
from pipeline.config.pipeline_config import MIB, PipelineConfig

_STAMPED = {"message.timestamp.type": "LogAppendTime", "max.message.bytes": str(4 * MIB)}
LATENCY_S = 0.04
# On a machine that does something else meanwhile a page may take seconds, which is not what is asked here.
_NOTHING_IS_SLOW = {"deferral": {"inline_allowance": "30s"}}


class Pages(Workload):
    """The usual work with pages of another size; so small a page costs nobody much, and what is fixed shows."""

    def __init__(self, events: int, *, page_bytes: int) -> None:
        super().__init__(events)
        self.page_bytes = page_bytes

    def rules(self, *, slow: frozenset[int] = frozenset(), slow_latency: str = "40s") -> list[Rule]:
        usual = super().rules(slow=slow, slow_latency=slow_latency)
        body = {"size": self.page_bytes, "changed_bytes": max(128, self.page_bytes // 100)}
        return [Rule.model_validate({"name": "size", "do": {"body": body}}), *usual]


@dataclass(frozen=True)
class Spread(SourceEvent):
    """An event in a topic of `partitions`."""

    partitions: int = 1

    @property
    def partition(self) -> int:
        return self.page % self.partitions


def fill(stack: BenchStack, topic: str, workload: Workload, partitions: int) -> None:
    """Make the topic, with all of the workload's events."""
    recreate_topics(stack.kafka.bootstrap, {topic: (partitions, _STAMPED)})
    stack.fill(topic, _spread(workload, partitions))


@dataclass(frozen=True)
class Point:
    """`settings` is a part of the pipeline's configuration."""

    name: str
    source: str
    partitions: int
    events: int
    settings: Mapping[str, Any]

    def measure(self, stack: BenchStack, directory: Path, engine: type[Engine] = Engine, **extra: Any) -> Outcome:
        """Raises DevkitError."""
        contestant = engine(read_settings(), overrides=merge(_NOTHING_IS_SLOW, self.settings), **extra)
        outcome = run(contestant, stack, self.source, self.events, directory=directory / self.name)
        shutil.rmtree(directory / self.name / "checkpoint", ignore_errors=True)
        return outcome

    def config(self) -> PipelineConfig:
        """As the model is asked about it."""
        least: dict[str, Any] = {
            "source": {"bootstrap_servers": "unused:1"},
            "sink": {"bootstrap_servers": "unused:1"},
            "mediawiki": {"endpoint": "http://unused"},
            "checkpoint": "unused",
        }
        return PipelineConfig.model_validate(merge(merge(least, read_settings()["pipeline"]), self.settings))

    def place(self, cores: int) -> Executors:
        return Executors(1, cores, read_settings()["spark"]["slots"], self.partitions)


def _spread(workload: Workload, partitions: int) -> Iterator[SourceEvent]:
    for event in workload.events():
        yield Spread(event.index, event.page, event.event_id, event.key, event.value, partitions)
