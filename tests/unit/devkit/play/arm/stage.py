"""An arm on a stack of values: nothing is started, and a test decides what there is to be seen."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import Position
from devkit.observe.samples.sampler import SampledTopics, Sampler
from devkit.observe.samples.usage import TreeUsage
from devkit.observe.timeline.kit_events import ProgramEvent
from devkit.observe.timeline.timeline import Timeline
from devkit.play.arm.arm import Arm
from devkit.play.arm.run_context import RunContext
from devkit.play.arm.sampling import take_sample
from devkit.programs.program import Program
from devkit.programs.program_run import ProgramRun
from devkit.report.progress import Progress
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.parts.mock_api import MockChange
from devkit.stack.stack import Stack
from devkit.traffic.publish import Publisher
from mockapi.client.journal_counts import JournalTotals, RuleTotals
from tests.unit.devkit.observe.fake_s3 import FakeS3

COUNTED = RuleTotals(
    requests=3, completed=2, max_real_bytes=20, max_wire_bytes=10, max_content_length=10, max_duration_s=0.5
)
TOLD, DIRECT = "127.0.0.1:1", "127.0.0.1:2"
"""The broker as programs find it, and as the kit does."""
NEVER: Position = ("nowhere", 0, 0)
SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
ERROR = "mw_page_html_content_change_enrich.error"


@dataclass
class Stage:
    """An arm on a stack of values."""

    arm: Arm
    store: FakeS3
    output: io.StringIO
    directory: Path
    counts: JournalTotals
    changes: list[MockChange]
    ends: dict[str, dict[int, int]] = field(default_factory=dict)
    published: int = 0
    done: bool = False
    deferred: int = 0
    due: tuple[Position, ...] = ()

    @property
    def main(self) -> ProgramRun:
        return self.arm.main

    def take(self, event: ProgramEvent) -> None:
        """The program says it, or it happens to its process."""
        self.arm.events[self.main.name].take(event)

    def timeline(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / "events.jsonl").read_text().splitlines()]

    def plan(self, batch: int, **ends: int) -> None:
        by_topic = {"mediawiki.page_change.v1": {name.removeprefix("p"): end for name, end in ends.items()}}
        self.store.put("checkpoints", f"incident/an-incident/offsets/{batch}", f"v1\n{{}}\n{json.dumps(by_topic)}")

    def commit(self, batch: int) -> None:
        self.store.put("checkpoints", f"incident/an-incident/commits/{batch}", "v1\n{}")

    def sampler(self, **changes: Any) -> Sampler:
        """Of what the stage shows."""
        looks: dict[str, Any] = {
            "counts": lambda: self.counts,
            "topics": SampledTopics(self.arm.topics.sources, self.arm.topics.output, self.arm.topics.errors),
            "ends": SimpleNamespace(of=lambda topic: self.ends.get(topic, {})),
            "committed": self.arm.checkpoint.committed,
            "deferrals": SimpleNamespace(catch_up=lambda: self.deferred),
            "usage": TreeUsage(list),
            "clock": lambda: 4.0,
        }
        return Sampler(**looks | changes)

    def sample(self, *, last: bool = False) -> None:
        self.arm.sampler = self.sampler()
        fate = SimpleNamespace(fate="output")
        entries = [SimpleNamespace(topic=t, partition=p, offset=o, expected=fate) for t, p, o in self.due or (NEVER,)]
        manifest = SimpleNamespace(entries=entries)
        self.arm.publisher = cast(
            Publisher, SimpleNamespace(done=self.done, published=self.published, manifest=lambda: manifest)
        )
        take_sample(self.arm, last=last)


@contextmanager
def set_up(
    scenario: Scenario, directory: Path, *, program: Program | None = None, has_triple_store: bool = False
) -> Iterator[Stage]:
    """Its incident arm, with `directory` for the run's."""
    store, output = FakeS3(), io.StringIO()
    counts = JournalTotals(requests=9, in_flight=1, by_status={}, rules={"huge page": COUNTED})
    changes: list[MockChange] = []
    stack = SimpleNamespace(
        proxy=None,
        kafka=SimpleNamespace(bootstrap=TOLD, direct=DIRECT),
        triple_store=SimpleNamespace(update="http://127.0.0.1:1/u", query="http://127.0.0.1:1/q", login=None)
        if has_triple_store
        else None,
        object_store=SimpleNamespace(endpoint="http://127.0.0.1:1", client=lambda: store),
        mock_api=SimpleNamespace(
            endpoint="http://127.0.0.1:1",
            counts=lambda: counts,
            changes_by_others=lambda: tuple(changes),
            truth=lambda wiki, revision: "",
            truth_at=lambda wiki, path: b"",
        ),
        prefix="",
        parts={},
        excused=lambda _name: nullcontext(),
    )
    with Timeline(directory / "events.jsonl") as timeline:
        guardian = cast(Guardian, SimpleNamespace(run_id="run-of-test"))
        context = RunContext(guardian, cast(Stack, stack), timeline, Progress(output), directory)
        traffic = cast(ScenarioTraffic, SimpleNamespace(count=161, dump=None, errors_of_events=lambda _: {}))
        arm = Arm(context, resolve(scenario, program).arms["incident"], traffic)
        yield Stage(arm, store, output, directory, counts, changes)
