"""What the driver knows of wikis that are open, with a clock that the test moves."""

from typing import Any

import pytest

from pipeline import log
from pipeline.config import Breaker
from pipeline.deferral.outages import Outages
from pipeline.events import fields_of
from pipeline.fetch.breaker import Answer, Ask, Opened

SETTINGS = Breaker.model_validate({"open_for": "10s", "open_for_cap": "40s"})
WELL, SICK = Answer(failed=False, why="status 200"), Answer(failed=True, why="status 503")


def ask(number: int) -> Ask:
    return Ask(f"/{number}", f"event {number}")


def opened(wiki: str = "enwiki", *asks: Ask, succeeded: Ask | None = None, retry_after_s: float = 0) -> Opened:
    return Opened(wiki, 20, 15, "status 503", asks or (ask(1), ask(2)), succeeded, retry_after_s)


class Driver:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.said: list[dict[str, Any]] = []
        self.outages = Outages(SETTINGS, lambda: self.now)
        monkeypatch.setattr(log, "say", lambda event: self.said.append({"event": event.event} | fields_of(event)))

    def probe(self, answer: Answer) -> str:
        """The one probe that is due, answered; what it asked for."""
        ((wiki, asked),) = self.outages.due()
        self.outages.probed(wiki, asked, answer)
        return asked.path


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return Driver(monkeypatch)


def test_probes_go_out_at_growing_intervals_until_one_goes_well(driver: Driver) -> None:
    driver.outages.reported([opened()])
    assert driver.outages.waits == ("enwiki",)
    for remaining_s in (10, 20, 40, 40):
        driver.now += remaining_s - 0.1
        assert driver.outages.due() == []
        driver.now += 0.1
        driver.probe(SICK)
        assert driver.outages.due() == []
    driver.now += 40
    driver.probe(WELL)
    assert (driver.outages.waits, driver.outages.due()) == ((), [])
    assert [line["event"] for line in driver.said] == ["breaker_open"] + ["breaker_probe"] * 5 + ["breaker_closed"]
    assert driver.said[0] == {
        "event": "breaker_open",
        "wiki": "enwiki",
        "requests": 20,
        "failed": 15,
        "why": "status 503",
        "remaining_s": 10.0,
    }
    assert driver.said[1] == {
        "event": "breaker_probe",
        "wiki": "enwiki",
        "path": "/1",
        "answer": "status 503",
        "healthy": False,
        "next_s": 20.0,
    }
    assert driver.said[-1] == {"event": "breaker_closed", "wiki": "enwiki", "seconds": 150.0, "probes": 5}


@pytest.mark.parametrize(
    ("failed", "well", "asked"),
    [((3, 2), 1, [3, 1, 2, 3]), ((3,), 1, [3, 1, 3, 1]), ((3, 2), 3, [3, 2, 3, 2]), ((3, 2), None, [3, 2, 3, 2])],
)
def test_revisions_that_fail_for_their_own_sake_keep_no_wiki_closed(
    driver: Driver, failed: tuple[int, ...], well: int | None, asked: list[int]
) -> None:
    """Probes ask in turn for what failed, and after the first for what did not."""
    driver.outages.reported([opened("enwiki", *map(ask, failed), succeeded=ask(well) if well else None)])
    paths = []
    for _ in range(4):
        driver.now += 40
        paths.append(driver.probe(SICK))
    assert paths == [f"/{number}" for number in asked]


def test_many_workers_do_not_make_the_wait_longer_than_one(driver: Driver) -> None:
    """Each names three failures, which are merged to three: the newest of different workers."""
    told = [
        opened("enwiki", *(ask(10 * worker + number) for number in range(3)), succeeded=ask(9)) for worker in range(4)
    ]
    driver.outages.reported(told)
    paths = []
    for _ in range(5):
        driver.now += 40
        paths.append(driver.probe(SICK))
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


def test_a_wiki_that_opens_again_at_once_rests_longer_and_one_that_was_well_does_not(driver: Driver) -> None:
    driver.outages.reported([opened()])
    driver.now += 10
    driver.probe(WELL)
    driver.outages.reported([opened()])
    assert driver.said[-1]["remaining_s"] == 20
    driver.now += 20
    driver.probe(WELL)
    driver.outages.reported([])
    driver.outages.reported([opened()])
    assert driver.said[-1]["remaining_s"] == 10


def test_what_several_workers_say_of_a_wiki_is_one_thing(driver: Driver) -> None:
    told = [opened("enwiki", ask(1), ask(2)), opened("dewiki"), opened("enwiki", ask(3), ask(1), succeeded=ask(4))]
    driver.outages.reported(told)
    assert driver.outages.waits == ("enwiki", "dewiki")
    assert [(line["wiki"], line["requests"], line["failed"]) for line in driver.said] == [
        ("enwiki", 40, 30),
        ("dewiki", 20, 15),
    ]
    driver.now += 10
    assert driver.outages.due() == [("enwiki", ask(1)), ("dewiki", ask(1))]
    asked = []
    for _ in range(4):
        driver.now += 40
        (_, one), _other = driver.outages.due()
        asked.append(one.path)
        driver.outages.probed("enwiki", one, SICK)
    assert asked == ["/1", "/4", "/3", "/2"]


def test_the_slow_lane_rests_until_no_wiki_is_open(driver: Driver) -> None:
    assert not driver.outages.resting
    driver.outages.reported([opened(), opened("dewiki")])
    assert driver.outages.resting
    driver.now += 1000
    assert driver.outages.resting, "until a probe has gone well"
    driver.outages.probed("enwiki", ask(1), WELL)
    assert driver.outages.resting, "the other is open"
    driver.outages.probed("dewiki", ask(1), WELL)
    assert not driver.outages.resting


def test_what_has_opened_is_known_when_it_is_closed_again(driver: Driver) -> None:
    driver.outages.reported([opened(), opened("dewiki")])
    assert driver.outages.status == {"enwiki": True, "dewiki": True}
    driver.now += 10
    driver.outages.probed("enwiki", ask(1), WELL)
    driver.outages.reported([])
    assert driver.outages.status == {"enwiki": False, "dewiki": True}
