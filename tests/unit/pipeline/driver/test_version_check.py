"""Which looks a batch gets. What the one in the JVM counts, the integration test of it shows with Spark."""

from collections.abc import Callable
from typing import Any

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver import version_check as module
from pipeline.driver.version_check import VersionCheck
from pipeline.errors import UnreadableSourceError
from pipeline.worker.unknown_versions import VersionsSeen
from tests.unit.pipeline.driver.batch_parts import Accumulated

READS = ("source", "/mediawiki/page/change/1.2.0")


class Bench:
    """Rows of which the JVM says `uncertain`, events and how many are not certain, and the workers `seen`."""

    def __init__(self, config: PipelineConfig, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[str] = []
        self.seen = [VersionsSeen(200, readable=frozenset({READS}))]
        self.uncertain = 200, 0
        self.readable: set[tuple[str, str]] = set()
        monkeypatch.setattr(module, "accumulated_list", lambda _: Accumulated(self.seen))
        monkeypatch.setattr(module, "count_uncertain", self._count)
        monkeypatch.setattr(module, "discard", lambda _: self.steps.append("workers"))
        spark: Any = None
        self.of = VersionCheck(spark, config)

    def _count(self, _rows: Any, readable: set[tuple[str, str]]) -> tuple[int, int]:
        self.steps.append("JVM")
        self.readable = set(readable)
        return self.uncertain

    def mapInArrow(self, _function: Any, _schema: str) -> None:  # noqa: N802 — Spark's name
        """Of the rows, which are the bench itself."""

    def look(self, batch: int) -> list[str]:
        """What looked at the batch."""
        self.steps.clear()
        rows: Any = self
        self.of.require_readable(rows, batch, workers=2)
        return list(self.steps)


@pytest.fixture
def bench(make_config: Callable[..., PipelineConfig], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Bench]:
    def make(max_offsets: int = 1000, **source: Any) -> Bench:
        return Bench(make_config(batch={"max_offsets": max_offsets}, source=source), monkeypatch)

    return make


def test_only_the_first_batch_and_one_of_which_too_many_are_uncertain_go_to_the_workers(
    bench: Callable[..., Bench],
) -> None:
    made = bench()
    assert made.look(7) == ["workers"], "nothing is known yet, so no event would be certain"
    assert made.look(8) == ["JVM"]
    assert made.readable == {READS}
    made.uncertain = 200, 3
    made.seen[0] = VersionsSeen(200, 0, readable=frozenset({("source", "/mediawiki/page/change/1.3.0")}))
    assert made.look(9) == ["JVM", "workers"]
    # With its write action. Spark tells of a batch after the next one.
    assert [made.of.reads(batch) for batch in (7, 8, 9, 9)] == [2, 2, 3, 1]
    made.uncertain = 200, 2
    assert made.look(10) == ["JVM"]
    assert made.readable == {READS, ("source", "/mediawiki/page/change/1.3.0")}, "what is new is learnt"


def test_the_workers_have_the_last_word(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.look(7)
    made.uncertain = 200, 3
    made.seen[0] = VersionsSeen(200, 3, "/mediawiki/page/change/2.0.0")
    with pytest.raises(UnreadableSourceError, match="3 of 200 events of batch 8"):
        made.look(8)


def test_a_small_batch_is_read_once(bench: Callable[..., Bench]) -> None:
    small = bench(max_offsets=99)
    assert small.look(7) == []
    assert small.of.reads(7) == 1


def test_behind_a_state_a_batch_is_read_from_its_shuffle(bench: Callable[..., Bench]) -> None:
    made = bench(deduplicate={"within": "10m"})
    assert made.look(7) == ["workers"]
    made.uncertain = 200, 3
    assert made.look(8) == ["JVM", "workers"]
    assert [made.of.reads(batch) for batch in (7, 8)] == [1, 1]


def test_what_is_known_is_plain_and_bounded(bench: Callable[..., Bench]) -> None:
    """As the JVM compares it with what stands in the text."""
    made = bench()
    odd = {
        ("source", name) for name in ("with space", 'with"quote', "with\\backslash", "with\nline", "Ä", "", "x" * 201)
    }
    many = {("source", f"/a/schema/1.{minor}.0") for minor in range(300)}
    made.seen[0] = VersionsSeen(200, readable=frozenset({READS} | odd))
    made.look(7)
    made.look(8)
    assert made.readable == {READS}
    made.uncertain = 200, 100
    made.seen[0] = VersionsSeen(200, readable=frozenset(many))
    made.look(9)
    made.look(10)
    assert len(made.readable) == 100
    assert READS in made.readable
