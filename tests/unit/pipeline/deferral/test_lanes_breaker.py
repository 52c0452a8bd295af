"""The driver's lanes while a wiki is unwell."""

from typing import Any

import orjson

from pipeline.deferral.entry import Entry
from pipeline.fetch.breaker import Answer, Ask, Opened
from tests.unit.pipeline.deferral.lanes_bench import HANG_S, MakeDriver, until, waiting_batch
from tests.unit.pipeline.deferral.making import entry, offsets


def opened(wiki: str = "enwiki") -> Opened:
    return Opened(wiki, 20, 15, "status 503", (Ask("/1", "event 1"), Ask("/2", "event 2")))


def of_wiki(offset: int, wiki: str, **fields: Any) -> Entry:
    return entry(offset, str(offset), value=orjson.dumps({"wiki_id": wiki}), **fields)


def test_while_a_wiki_is_open_no_batch_is_planned_until_a_probe_goes_well(driver: MakeDriver) -> None:
    ours = driver()
    ours.answers += [Answer(failed=True, why="status 503"), Answer(failed=False, why="status 200")]
    ours.lanes.written(ours.lanes.plan(6), 6, [opened()])
    plans: list[Any] = []
    waiting = waiting_batch(ours, 7, plans)
    (said,) = ours.events("waiting")
    assert (said["batch"], said["reason"], said["wikis"]) == (7, "breaker open: enwiki", ("enwiki",))
    assert ours.lanes.breakers == {"enwiki": True}
    ours.lanes.probe()
    assert ours.asked == [], "not before its time"
    ours.now[0] += 10
    ours.lanes.probe()
    assert plans == []
    ours.now[0] += 20
    ours.lanes.probe()
    waiting.join(HANG_S)
    assert len(plans) == 1
    assert ours.asked == [("enwiki", "/1"), ("enwiki", "/2")]
    assert [line["batch"] for line in ours.events("resumed")] == [7]
    assert ours.lanes.breakers == {"enwiki": False}


def test_an_outage_costs_no_entry_its_tries_of_whatever_wiki(driver: MakeDriver) -> None:
    """A small wiki has never requests enough to be found open, and may share what is down with the one that is."""
    ours = driver(of_wiki(1, "enwiki", stuck=True), of_wiki(2, "swwiki", stuck=True), of_wiki(3, "swwiki"))
    ours.rounds.go.set()
    ours.lanes._outages.reported([opened()])
    plans: list[Any] = []
    waiting = waiting_batch(ours, 7, plans)
    ours.now[0] += 1000
    ours.look()
    assert ours.lanes.rounds == 0
    assert ours.rounds.began == []
    ours.answers.append(Answer(failed=False, why="status 200"))
    ours.lanes.probe()
    waiting.join(HANG_S)
    assert offsets(plans[0].reserved) == [3]
    ours.look()
    until(lambda: ours.events("slow_round"))
    assert [offsets(began) for began in ours.rounds.began] == [[1, 2]]


def test_a_stop_ends_the_wait_for_a_wiki(driver: MakeDriver) -> None:
    ours = driver()
    ours.lanes.written(ours.lanes.plan(6), 6, [opened()])
    plans: list[Any] = []
    waiting = waiting_batch(ours, 7, plans)
    ours.lanes.stop()
    waiting.join(HANG_S)
    assert "a wait was ended: breaker open: enwiki" in str(plans[0])


def test_a_probe_that_is_stopped_says_nothing(driver: MakeDriver) -> None:
    ours = driver()
    ours.lanes.written(ours.lanes.plan(6), 6, [opened()])
    ours.answers.append(None)
    ours.now[0] += 10
    ours.lanes.probe()
    assert ours.events("breaker_probe") == []
    assert ours.lanes.breakers == {"enwiki": True}
