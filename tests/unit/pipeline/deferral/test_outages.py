"""What the driver knows of wikis that are open, with a clock that the test moves."""

from typing import Any

import pytest

from pipeline import log
from pipeline.config.pipeline_config import Breaker
from pipeline.deferral.outages import NAMED_WIKIS, OTHERS, Outages
from pipeline.events import fields_of
from pipeline.fetch.breaker import ENDPOINT, Answer, Opened
from pipeline.fetch.route import Ask

SETTINGS = Breaker.model_validate({"open_for": "10s", "open_for_cap": "40s"})
WELL, SICK = Answer(failed=False, why="status 200"), Answer(failed=True, why="status 503")


def ask(number: int) -> Ask:
    return Ask(f"/{number}", f"event {number}")


def opened(wiki: str = "enwiki", *asks: Ask, succeeded: Ask | None = None, retry_after_s: float = 0) -> Opened:
    return Opened(wiki, 20, 15, "status 503", asks or (ask(1), ask(2)), succeeded, retry_after_s)


class Driver:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.logged: list[dict[str, Any]] = []
        self.outages = Outages(SETTINGS, lambda: self.now)
        monkeypatch.setattr(log, "emit", lambda event: self.logged.append({"event": event.event} | fields_of(event)))

    def probe(self, answer: Answer) -> str:
        """The one probe that is due, answered; what it asked for."""
        ((wiki, asked),) = self.outages.due()
        self.outages.probed(wiki, asked, answer)
        return asked.path

    def failing_probes(self, count: int) -> list[str]:
        """What each asked for; they are due after 40 s at the latest."""
        paths = []
        for _ in range(count):
            self.now += 40
            paths.append(self.probe(SICK))
        return paths


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return Driver(monkeypatch)


def test_probes_go_out_at_growing_intervals_until_one_goes_well(driver: Driver) -> None:
    driver.outages.reported([opened()])
    assert driver.outages.open_wikis == {"enwiki"}
    for remaining_s in (10, 20, 40, 40):
        driver.now += remaining_s - 0.1
        assert driver.outages.due() == []
        driver.now += 0.1
        driver.probe(SICK)
        assert driver.outages.due() == []
    driver.now += 40
    driver.probe(WELL)
    assert (driver.outages.open_wikis, driver.outages.due()) == (set(), [])
    assert [line["event"] for line in driver.logged] == ["breaker_open"] + ["breaker_probe"] * 5 + ["breaker_closed"]
    assert driver.logged[0] == {
        "event": "breaker_open",
        "grain": "wiki",
        "wiki": "enwiki",
        "requests": 20,
        "failed": 15,
        "why": "status 503",
        "remaining_s": 10.0,
    }
    assert driver.logged[1] == {
        "event": "breaker_probe",
        "grain": "wiki",
        "wiki": "enwiki",
        "path": "/1",
        "answer": "status 503",
        "healthy": False,
        "next_s": 20.0,
    }
    closed = {"event": "breaker_closed", "grain": "wiki", "wiki": "enwiki"}
    assert driver.logged[-1] == closed | {"seconds": 150.0, "probes": 5}


@pytest.mark.parametrize(
    ("failed", "well", "asked"),
    [((3, 2), 1, [3, 1, 2, 3]), ((3,), 1, [3, 1, 3, 1]), ((3, 2), 3, [3, 2, 3, 2]), ((3, 2), None, [3, 2, 3, 2])],
)
def test_revisions_that_fail_for_their_own_sake_keep_no_wiki_closed(
    driver: Driver, failed: tuple[int, ...], well: int | None, asked: list[int]
) -> None:
    """Probes ask in turn for what failed, and after the first for what did not."""
    driver.outages.reported([opened("enwiki", *map(ask, failed), succeeded=ask(well) if well else None)])
    assert driver.failing_probes(4) == [f"/{number}" for number in asked]


def test_many_workers_do_not_make_the_wait_longer_than_one(driver: Driver) -> None:
    """Each names three failures, which are merged to three: the newest of different workers."""
    failures = [[ask(10 * worker + number) for number in range(3)] for worker in range(4)]
    driver.outages.reported([opened("enwiki", *asks, succeeded=ask(9)) for asks in failures])
    paths = driver.failing_probes(5)
    assert paths[1] == "/9"
    assert paths[4] == paths[0]
    assert len({path[1:-1] for path in paths if path != "/9"}) == 3, "of three workers"


@pytest.mark.parametrize(("asked_s", "remaining_s"), [(5.0, 10.0), (25.0, 25.0), (1e9, 40.0)])
def test_retry_after_is_obeyed_as_far_as_the_cap_goes(driver: Driver, asked_s: float, remaining_s: float) -> None:
    driver.outages.reported([opened(retry_after_s=asked_s)])
    for _ in range(2):
        driver.now += remaining_s - 0.1
        assert driver.outages.due() == []
        driver.now += 0.1
        driver.probe(Answer(failed=True, why="status 429", retry_after_s=asked_s))
        remaining_s = max(remaining_s, 20.0)


@pytest.mark.parametrize(
    ("batches", "refused", "remaining_s"),
    [(0, (), 20), (1, ("enwiki",), 20), (1, (), 10)],
    ids=["opens again at once", "was not asked, as the batch was planned while it was open", "was well"],
)
def test_a_wiki_rests_longer_unless_it_was_well_meanwhile(
    driver: Driver, batches: int, refused: tuple[str, ...], remaining_s: float
) -> None:
    driver.outages.reported([opened()])
    driver.now += 10
    driver.probe(WELL)
    for _ in range(batches):
        driver.outages.reported([], refused=set(refused))
    driver.outages.reported([opened()])
    assert driver.logged[-1]["remaining_s"] == remaining_s


def test_what_several_workers_say_of_a_wiki_is_one_thing(driver: Driver) -> None:
    reports = [opened("enwiki", ask(1), ask(2)), opened("dewiki"), opened("enwiki", ask(3), ask(1), succeeded=ask(4))]
    driver.outages.reported(reports)
    assert driver.outages.open_wikis == {"enwiki", "dewiki"}
    assert [(line["wiki"], line["requests"], line["failed"]) for line in driver.logged] == [
        ("enwiki", 40, 30),
        ("dewiki", 20, 15),
    ]
    driver.now += 10
    assert driver.outages.due() == [("enwiki", ask(1)), ("dewiki", ask(1))]
    asked = []
    for _ in range(4):
        driver.now += 40
        one = dict(driver.outages.due())["enwiki"]
        asked.append(one.path)
        driver.outages.probed("enwiki", one, SICK)
    assert asked == ["/1", "/4", "/3", "/2"]


def test_what_has_opened_is_known_when_it_is_closed_again(driver: Driver) -> None:
    driver.outages.reported([opened(), opened("dewiki")])
    assert driver.outages.status == {("wiki", "enwiki"): 1, ("wiki", "dewiki"): 1}
    driver.now += 10
    driver.outages.probed("enwiki", ask(1), WELL)
    driver.outages.reported([])
    assert driver.outages.status == {("wiki", "enwiki"): 0, ("wiki", "dewiki"): 1}


def of_endpoint(*asks: Ask) -> Opened:
    return Opened(ENDPOINT, 20, 20, "status 503", asks, succeeded=Ask("/9", "event 9", wiki_id="enwiki"), wikis=18)


def test_the_endpoint_is_probed_at_several_wikis_and_no_wiki_meanwhile(driver: Driver) -> None:
    asks = [Ask(f"/{number}", f"event {number}", wiki_id=f"wiki{number}") for number in range(3)]
    driver.outages.reported([of_endpoint(*asks), opened("dewiki")])
    assert driver.outages.endpoint_is_open
    assert driver.outages.open_wikis == {"dewiki"}
    asked = []
    for _ in range(4):
        driver.now += 40
        ((scope, one),) = driver.outages.due()
        assert scope is ENDPOINT
        asked.append(one.wiki_id)
        driver.outages.probed(scope, one, SICK)
    assert asked == ["wiki0", "enwiki", "wiki1", "wiki2"]
    driver.now += 40
    driver.outages.probed(ENDPOINT, asks[0], WELL)
    assert not driver.outages.endpoint_is_open
    assert [scope for scope, _ in driver.outages.due()] == ["dewiki"]
    lines = [line for line in driver.logged if line.get("grain") == "endpoint"]
    assert (lines[0]["event"], lines[0]["wikis"], lines[0].get("wiki")) == ("breaker_open", 18, None)
    assert [line["wiki"] for line in lines[1:-1]] == ["wiki0", "enwiki", "wiki1", "wiki2", "wiki0"]
    assert (lines[-1]["event"], lines[-1].get("wiki"), lines[-1]["probes"]) == ("breaker_closed", None, 5)
    assert driver.outages.status == {("endpoint", ""): 0, ("wiki", "dewiki"): 1}


def test_a_few_wikis_are_named_and_the_others_summed(driver: Driver) -> None:
    many = [f"wiki{number}" for number in range(NAMED_WIKIS + 3)]
    driver.outages.reported([opened(wiki) for wiki in many])
    status = driver.outages.status
    assert len(status) == NAMED_WIKIS + 1
    assert status["wiki", OTHERS] == 3
    driver.outages.probed("wiki0", ask(1), WELL)
    driver.outages.probed(many[-1], ask(1), WELL)
    assert (driver.outages.status["wiki", "wiki0"], driver.outages.status["wiki", OTHERS]) == (0, 2)
    driver.outages.reported([opened("enwiki")])
    status = driver.outages.status
    assert (status["wiki", "enwiki"], status["wiki", OTHERS]) == (1, 2)
    assert ("wiki", "wiki0") not in status, "its name went to one that is open"


def test_those_that_are_due_for_longest_are_probed_first(driver: Driver) -> None:
    driver.outages.reported([opened("enwiki", retry_after_s=20), opened("dewiki"), opened("frwiki")])
    driver.now += 30
    assert [scope for scope, _ in driver.outages.due(2)] == ["dewiki", "frwiki"]


def test_it_is_known_what_was_open_when(driver: Driver) -> None:
    driver.outages.reported([opened()])
    assert driver.outages.was_open("enwiki", driver.now + 1000), "it still is"
    driver.now += 10
    driver.probe(WELL)
    assert driver.outages.was_open("enwiki", driver.now - 1)
    assert not driver.outages.was_open("enwiki", driver.now + 1)
    assert not driver.outages.was_open("dewiki", 0)
    assert not driver.outages.was_open(None, 0)
    driver.outages.reported([of_endpoint(ask(1))])
    assert driver.outages.was_open("dewiki", driver.now)
    assert driver.outages.was_open(None, driver.now)
