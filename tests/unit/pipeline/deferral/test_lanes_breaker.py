"""The driver's lanes while a wiki, or the endpoint, is unhealthy; and a stop, which asks them what is under way."""

import threading
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
    ours.batch(6, *wrote, opened_breakers=[opened(scope) for scope in scopes])


def recover(ours: Driver, *answers: Answer, after_s: float = 1000) -> None:
    """Probes are due, and answered so."""
    ours.now[0] += after_s
    ours.answers += answers
    ours.lanes.probe()


def attempts(ours: Driver) -> dict[int, int]:
    """Of the entries as the ledger has them."""
    return {one.position.offset: one.attempt for one in ours.lanes._ledger.listing()}


def test_while_the_endpoint_is_open_no_batch_is_planned_until_a_probe_goes_well(driver: MakeDriver) -> None:
    ours = driver()
    found(ours, ENDPOINT)
    waiting = waiting_batch(ours)
    (line,) = ours.events("waiting")
    assert (line["batch"], line["grain"], line["reason"]) == (7, "endpoint", "breaker of the endpoint open")
    assert ours.lanes.breakers == {("endpoint", ""): 1}
    ours.lanes.probe()
    assert ours.asked == [], "not before its time"
    recover(ours, SICK, after_s=10)
    assert waiting.plans == []
    recover(ours, WELL, after_s=20)
    assert waiting.plan
    assert ours.asked == [("wiki1", "/1"), ("wiki2", "/2")], "of different wikis"
    assert [line["batch"] for line in ours.events("resumed")] == [7]
    assert ours.lanes.breakers == {("endpoint", ""): 0}


def test_one_wiki_that_is_down_stops_no_other(driver: MakeDriver) -> None:
    """Its events are not reserved and not taken, and its requests are refused; batches go on."""
    ours = driver(
        of_wiki(1, "enwiki", stuck=True), of_wiki(2, "dewiki", stuck=True), of_wiki(3, "enwiki"), of_wiki(4, "dewiki")
    )
    ours.lanes._outages.reported([opened()])
    for number, reserved in ((7, [4]), (8, [])):
        snapshot = ours.lanes.plan(number)
        assert (snapshot.unhealthy, offsets(snapshot.reserved)) == ({"enwiki"}, reserved)
        ours.lanes.written(snapshot, number, {TASK})
    ours.finish_round()
    assert ours.events("waiting") == []
    assert ours.lanes.deferred_unhealthy == 2
    recover(ours, WELL)
    snapshot = ours.lanes.plan(9)
    assert (snapshot.unhealthy, offsets(snapshot.reserved)) == (set(), [3])
    ours.finish_round(number=2)
    assert [offsets(began) for began in ours.rounds.began] == [[2], [1]]


@pytest.mark.parametrize(("max_entries", "waits"), [(8, True), (12, False)])
def test_what_unhealthy_wikis_have_deferred_is_bounded_by_their_share(
    driver: MakeDriver, max_entries: int, *, waits: bool
) -> None:
    """Three events, on pages of two wikis; a quarter is theirs together."""
    entries = of_wiki(1, "enwiki"), entry(2, "1"), of_wiki(3, "dewiki"), of_wiki(4, "frwiki")
    ours = driver(*entries, max_entries=max_entries)
    ours.lanes._outages.reported([opened(), opened("dewiki")])
    if not waits:
        assert offsets(ours.lanes.plan(7).reserved) == [4]
        return
    waiting = waiting_batch(ours)
    (line,) = ours.events("waiting")
    assert (line["grain"], line["wikis"], line["entries"]) == ("wiki", ("dewiki", "enwiki"), 3)
    assert line["reason"].startswith("breaker open: dewiki, enwiki; 3 deferred events of ")
    recover(ours, WELL, SICK, after_s=10)
    assert len(waiting.plan.unhealthy) == 1


def test_an_open_endpoint_rests_the_slow_lane(driver: MakeDriver) -> None:
    """A small wiki has never requests enough to be found open, and may share what is down with the others."""
    ours = driver(of_wiki(1, "enwiki", stuck=True), of_wiki(2, "swwiki", stuck=True), of_wiki(3, "swwiki"))
    ours.lanes._outages.reported([opened(ENDPOINT)])
    waiting = waiting_batch(ours)
    ours.rounds.go.set()
    ours.look(after_s=1000)
    assert (ours.lanes.rounds, ours.rounds.began) == (0, [])
    recover(ours, WELL, after_s=0)
    assert offsets(waiting.plan.reserved) == [3]
    ours.finish_round()
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


TRIED = [of_wiki(1, "enwiki", stuck=True, attempt=3), of_wiki(2, "dewiki", stuck=True, attempt=3)]
BOTH_FAILED = [rewritten(1, "enwiki"), rewritten(2, "dewiki")]


def test_what_failed_in_a_round_while_its_wiki_was_open_has_its_try_back(driver: MakeDriver) -> None:
    """The round began before, and ended after: the wiki was closed again by then."""
    ours = driver(*TRIED)
    ours.rounds.facts.append([*BOTH_FAILED])
    ours.look()
    until(lambda: ours.rounds.began)
    ours.now[0] += 1
    found(ours, "enwiki")
    recover(ours, WELL, after_s=10)
    ours.rounds.go.set()
    until(lambda: ours.events("slow_round"))
    assert attempts(ours) == {1: 3, 2: 4}


def test_what_failed_in_a_round_before_a_batch_found_out_has_its_try_back(driver: MakeDriver) -> None:
    ours = driver(*TRIED)
    ours.finish_round(*BOTH_FAILED)
    assert attempts(ours) == {1: 4, 2: 4}
    found(ours, "enwiki")
    assert attempts(ours) == {1: 3, 2: 4}
    ours.batch(7, opened_breakers=[opened("dewiki")])
    assert attempts(ours) == {1: 3, 2: 4}, "that round was before the last batch"


def test_what_left_in_a_round_is_nobodys_try(driver: MakeDriver) -> None:
    ours = driver(TRIED[0])
    ours.finish_round(Resolved(Position("source", 0, 1)))
    found(ours, "enwiki")
    assert attempts(ours) == {}


@pytest.mark.parametrize(
    ("scope", "why"),
    [(ENDPOINT, "was ended: breaker of the endpoint open"), ("enwiki", "was ended: breaker open: enwiki")],
)
def test_a_stop_ends_the_wait(driver: MakeDriver, scope: str | None, why: str) -> None:
    ours = driver(of_wiki(1, "enwiki", stuck=True), max_entries=1)
    found(ours, scope)
    waiting = waiting_batch(ours)
    ours.lanes.stop()
    assert why in str(waiting.plan)


def test_a_probe_that_is_stopped_says_nothing(driver: MakeDriver) -> None:
    ours = driver()
    found(ours, "enwiki")
    ours.now[0] += 10
    ours.answers.append(None)
    ours.lanes.probe()
    assert ours.events("breaker_probe") == []
    assert ours.lanes.breakers == {("wiki", "enwiki"): 1}


def test_what_is_under_way_is_told_while_the_brokers_do_not_answer(
    driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set-up: the lane looks for operators' commands, with its lock, and is not answered."""
    ours = driver(entry(1, stuck=True))
    ours.look()
    asked, answer = threading.Event(), threading.Event()
    read = ours.topic.read

    def unanswered(*arguments: Any, **named: Any) -> Any:
        asked.set()
        assert answer.wait(2 * HANG_S)
        return read(*arguments, **named)

    monkeypatch.setattr(ours.topic, "read", unanswered)
    lane = threading.Thread(target=lambda: ours.look(after_s=10))
    lane.start()
    assert asked.wait(HANG_S)
    found: list[int] = []

    def stop() -> None:
        ours.lanes.stop()
        found.append(ours.lanes.rounds)

    stopping = threading.Thread(target=stop)
    stopping.start()
    try:
        stopping.join(HANG_S)
        assert found == [1]
    finally:
        answer.set()
        ours.rounds.go.set()
        lane.join(HANG_S)
        stopping.join(HANG_S)


def test_a_look_that_finds_nothing_due_leaves_no_round_behind(driver: MakeDriver) -> None:
    ours = driver()
    ours.look()
    assert ours.lanes.rounds == 0
