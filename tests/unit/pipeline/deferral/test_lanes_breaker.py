"""The driver's lanes while a wiki, or the endpoint, is unhealthy."""

from typing import Any

import pytest

from pipeline.deferral.entry import Entry, Resolved, Rewritten
from pipeline.fetch.breaker import ENDPOINT, Answer, Opened
from pipeline.fetch.route import Ask
from pipeline.records.record import Position
from tests.unit.pipeline.deferral.lanes_bench import HANG_S, TASK, Driver, MakeDriver, until, waiting_batch
from tests.unit.pipeline.deferral.making import entry, offsets

WELL, SICK = Answer(failed=False, why="status 200"), Answer(failed=True, why="status 503")


def opened(wiki: str | None = "enwiki") -> Opened:
    asks = tuple(Ask(f"/{number}", f"event {number}", wiki_id=wiki or f"wiki{number}") for number in (1, 2))
    return Opened(wiki, 20, 15, "status 503", asks)


def of_wiki(offset: int, wiki: str, **fields: Any) -> Entry:
    return entry(offset, str(offset), wiki_id=wiki, **fields)


def found(ours: Driver, *scopes: str | None, wrote: tuple[Entry, ...] = ()) -> None:
    """A batch has found these to be unhealthy."""
    snapshot = ours.lanes.plan(6)
    ours.log.put(*wrote, epoch=ours.lanes.epoch, batch=6, task=TASK)
    ours.lanes.written(snapshot, 6, {TASK}, [opened(scope) for scope in scopes])


def attempts(ours: Driver) -> dict[int, int]:
    """Of the entries as the ledger has them."""
    return {one.position.offset: one.attempt for one in ours.lanes._ledger.listing()}


def test_while_the_endpoint_is_open_no_batch_is_planned_until_a_probe_goes_well(driver: MakeDriver) -> None:
    ours = driver()
    ours.answers += [SICK, WELL]
    found(ours, ENDPOINT)
    plans: list[Any] = []
    waiting = waiting_batch(ours, 7, plans)
    (line,) = ours.events("waiting")
    assert (line["batch"], line["grain"], line["reason"]) == (7, "endpoint", "breaker of the endpoint open")
    assert ours.lanes.breakers == {("endpoint", ""): 1}
    ours.lanes.probe()
    assert ours.asked == [], "not before its time"
    ours.now[0] += 10
    ours.lanes.probe()
    assert plans == []
    ours.now[0] += 20
    ours.lanes.probe()
    waiting.join(HANG_S)
    assert len(plans) == 1
    assert ours.asked == [("wiki1", "/1"), ("wiki2", "/2")], "of different wikis"
    assert [line["batch"] for line in ours.events("resumed")] == [7]
    assert ours.lanes.breakers == {("endpoint", ""): 0}


def test_one_wiki_that_is_down_stops_no_other(driver: MakeDriver) -> None:
    """Its events are not reserved and not taken, and its requests are refused; batches go on."""
    ours = driver(
        of_wiki(1, "enwiki", stuck=True), of_wiki(2, "dewiki", stuck=True), of_wiki(3, "enwiki"), of_wiki(4, "dewiki")
    )
    ours.rounds.go.set()
    ours.lanes._outages.reported([opened()])
    for number in (7, 8):
        snapshot = ours.lanes.plan(number)
        assert snapshot.unhealthy == {"enwiki"}
        assert offsets(snapshot.reserved) == ([4] if number == 7 else [])
        ours.lanes.written(snapshot, number, {TASK})
    ours.look()
    until(lambda: ours.events("slow_round"))
    assert [offsets(began) for began in ours.rounds.began] == [[2]]
    assert ours.events("waiting") == []
    assert ours.lanes.deferred_unhealthy == 2
    ours.now[0] += 1000
    ours.answers.append(WELL)
    ours.lanes.probe()
    snapshot = ours.lanes.plan(9)
    assert (snapshot.unhealthy, offsets(snapshot.reserved)) == (set(), [3])
    ours.look()
    until(lambda: len(ours.rounds.began) == 2)
    assert offsets(ours.rounds.began[1]) == [1]


@pytest.mark.parametrize(("bounds", "waits"), [({"max_entries": 8}, True), ({"max_entries": 12}, False)])
def test_what_unhealthy_wikis_have_deferred_is_bounded_by_their_share(
    driver: MakeDriver, bounds: dict[str, int], *, waits: bool
) -> None:
    """Three events, on pages of two wikis; a quarter is theirs together."""
    ours = driver(of_wiki(1, "enwiki"), entry(2, "1"), of_wiki(3, "dewiki"), of_wiki(4, "frwiki"), **bounds)
    ours.lanes._outages.reported([opened(), opened("dewiki")])
    if not waits:
        assert offsets(ours.lanes.plan(7).reserved) == [4]
        return
    plans: list[Any] = []
    waiting = waiting_batch(ours, 7, plans)
    (line,) = ours.events("waiting")
    assert (line["grain"], line["wikis"], line["entries"]) == ("wiki", ("dewiki", "enwiki"), 3)
    assert line["reason"].startswith("breaker open: dewiki, enwiki; 3 deferred events of ")
    ours.now[0] += 10
    ours.answers += [WELL, SICK]
    ours.lanes.probe()
    waiting.join(HANG_S)
    assert len(plans[0].unhealthy) == 1


def test_an_open_endpoint_rests_the_slow_lane(driver: MakeDriver) -> None:
    """A small wiki has never requests enough to be found open, and may share what is down with the others."""
    ours = driver(of_wiki(1, "enwiki", stuck=True), of_wiki(2, "swwiki", stuck=True), of_wiki(3, "swwiki"))
    ours.rounds.go.set()
    ours.lanes._outages.reported([opened(ENDPOINT)])
    plans: list[Any] = []
    waiting = waiting_batch(ours, 7, plans)
    ours.now[0] += 1000
    ours.look()
    assert ours.lanes.rounds == 0
    assert ours.rounds.began == []
    ours.answers.append(WELL)
    ours.lanes.probe()
    waiting.join(HANG_S)
    assert offsets(plans[0].reserved) == [3]
    ours.look()
    until(lambda: ours.events("slow_round"))
    assert [offsets(began) for began in ours.rounds.began] == [[1, 2]]


@pytest.mark.parametrize(("scope", "kept"), [("enwiki", {1: 0, 2: 0, 3: 1}), (ENDPOINT, {1: 0, 2: 0, 3: 0})])
def test_what_failed_in_the_batch_that_found_out_has_its_try_back(
    driver: MakeDriver, scope: str | None, kept: dict[int, int]
) -> None:
    ours = driver()
    failed = of_wiki(1, "enwiki", stuck=True, attempt=1)
    refused = of_wiki(2, "enwiki", attempt=0)
    other = of_wiki(3, "dewiki", stuck=True, attempt=1)
    found(ours, scope, wrote=(failed, refused, other))
    assert attempts(ours) == kept
    assert {position.offset: one.attempt for position, one in ours.log.folded().entries.items()} == kept


def rewritten(offset: int, wiki: str, attempt: int = 4) -> Rewritten:
    return Rewritten(Position("source", 0, offset), attempt, 60_000, "it failed", wiki_id=wiki)


def test_what_failed_in_a_round_while_its_wiki_was_open_has_its_try_back(driver: MakeDriver) -> None:
    """The round began before, and ended after: the wiki was closed again by then."""
    ours = driver(of_wiki(1, "enwiki", stuck=True, attempt=3), of_wiki(2, "dewiki", stuck=True, attempt=3))
    ours.rounds.facts.append([rewritten(1, "enwiki"), rewritten(2, "dewiki")])
    ours.look()
    until(lambda: ours.rounds.began)
    ours.now[0] += 1
    found(ours, "enwiki")
    ours.now[0] += 10
    ours.answers.append(WELL)
    ours.lanes.probe()
    ours.rounds.go.set()
    until(lambda: ours.events("slow_round"))
    assert attempts(ours) == {1: 3, 2: 4}


def test_what_failed_in_a_round_before_a_batch_found_out_has_its_try_back(driver: MakeDriver) -> None:
    ours = driver(of_wiki(1, "enwiki", stuck=True, attempt=3), of_wiki(2, "dewiki", stuck=True, attempt=3))
    ours.rounds.go.set()
    ours.rounds.facts.append([rewritten(1, "enwiki"), rewritten(2, "dewiki")])
    ours.look()
    until(lambda: ours.events("slow_round"))
    assert attempts(ours) == {1: 4, 2: 4}
    found(ours, "enwiki")
    assert attempts(ours) == {1: 3, 2: 4}
    ours.lanes.written(ours.lanes.plan(7), 7, {TASK}, [opened("dewiki")])
    assert attempts(ours) == {1: 3, 2: 4}, "that round was before the last batch"


def test_what_left_in_a_round_is_nobodys_try(driver: MakeDriver) -> None:
    ours = driver(of_wiki(1, "enwiki", stuck=True, attempt=3))
    ours.rounds.go.set()
    ours.rounds.facts.append([Resolved(Position("source", 0, 1))])
    ours.look()
    until(lambda: ours.events("slow_round"))
    found(ours, "enwiki")
    assert attempts(ours) == {}


@pytest.mark.parametrize(
    ("scope", "why"),
    [
        (ENDPOINT, "was ended: breaker of the endpoint open"),
        ("enwiki", "was ended: breaker open: enwiki"),
    ],
)
def test_a_stop_ends_the_wait(driver: MakeDriver, scope: str | None, why: str) -> None:
    ours = driver(of_wiki(1, "enwiki", stuck=True), max_entries=1)
    found(ours, scope)
    plans: list[Any] = []
    waiting = waiting_batch(ours, 7, plans)
    ours.lanes.stop()
    waiting.join(HANG_S)
    assert why in str(plans[0])


def test_a_probe_that_is_stopped_says_nothing(driver: MakeDriver) -> None:
    ours = driver()
    found(ours, "enwiki")
    ours.answers.append(None)
    ours.now[0] += 10
    ours.lanes.probe()
    assert ours.events("breaker_probe") == []
    assert ours.lanes.breakers == {("wiki", "enwiki"): 1}
