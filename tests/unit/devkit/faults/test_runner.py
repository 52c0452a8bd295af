from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from devkit.errors import StackError
from devkit.faults import registry
from devkit.faults.condition import RequestSeen, Seen
from devkit.faults.fault import Acting, Context, Proof
from devkit.faults.journal import Journal
from devkit.faults.runner import Happened, Runner
from devkit.faults.timeline_item import TimelineItem
from tests.unit.devkit.faults.fakes import DONE, Brief, Clock, Excuses, FakePart, Noted, context


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for fault in (Noted, Brief):
        monkeypatch.setitem(registry.FAULTS._by_name, fault.name, fault)
    DONE.clear()
    yield
    DONE.clear()


class Proxy:
    """Watches for requests; `came` are those that have."""

    def __init__(self) -> None:
        self.came: frozenset[RequestSeen] = frozenset()
        self.done: list[str] = []
        self.past = ""

    def begin(self) -> None:
        self.done.append("began")

    def seen(self) -> frozenset[RequestSeen]:
        return self.came

    def missed(self, item: str) -> str:
        return self.past

    def release(self, item: str) -> None:
        self.done.append(f"let {item} go after {DONE}")

    def end(self) -> None:
        self.done.append("ended")


class Arm:
    """A runner whose work is done at once, on the caller's thread."""

    def __init__(
        self, *items: dict[str, Any], start: Callable[[Callable[[], None]], None] | None = None, cluster: str = ""
    ) -> None:
        self.clock, self.excuses, self.reported = Clock(), Excuses(), list[Happened]()
        self.journal, self.proxy = Journal("run1"), Proxy()
        self.runner = Runner(
            [TimelineItem.model_validate({"name": "x"} | item) for item in items],
            journal=self.journal,
            context=lambda plan: replace(context(FakePart(), plan=plan), cluster_id=lambda: cluster),
            excuse=self.excuses,
            clock=self.clock,
            report=self.reported.append,
            events=100,
            start=start or (lambda work: work()),
            renewal_clock=self.clock,
            watch=self.proxy,
        )

    def at(self, second: float) -> None:
        self.clock.now = second
        self.runner.tick()


def test_a_fault_begins_at_its_time_and_ends_after_its_own() -> None:
    arm = Arm({"do": {"noted": {}}, "at": "8s", "for": "5s"})
    arm.at(7.9)
    assert (DONE, arm.runner.held, arm.journal.pages()) == ([], frozenset(), ())
    arm.at(8)
    assert (DONE, arm.runner.held, arm.excuses.now) == (["began"], {"kafka"}, ["kafka"])
    assert [page.entry.asked for page in arm.journal.pages()] == ["noted: {}"]
    arm.at(12.9)
    assert DONE == ["began"]
    arm.at(13)
    assert DONE == ["began", "ended"]
    assert (arm.runner.held, arm.excuses.now, arm.journal.pages()) == (frozenset(), [], ())
    arm.runner.end()
    asked = "noted: {}, at 8s, for 5s"
    assert arm.reported == [Happened("x", asked, 8), Happened("x", asked, 8, 13, acted=True, did="it did")]
    assert arm.runner.happened == (arm.reported[-1],)


@pytest.mark.parametrize(
    ("lasts", "blinded"),
    [
        ({"a": "60s"}, {7.9: False, 8: True, 22.9: True, 23: False, 67.9: False, 68: False}),
        ({"a": "60s", "b": "40s"}, {8: True, 30: True, 48: False}),
    ],
    ids=["another part answers after 15 s", "of two parts that are away it is not known who answers"],
)
def test_a_fault_blinds_until_another_part_answers(
    monkeypatch: pytest.MonkeyPatch, lasts: dict[str, str], blinded: dict[float, bool]
) -> None:
    monkeypatch.setattr(Noted, "blinds", True)
    monkeypatch.setattr(Noted, "blinds_s", lambda _fault: 15.0)
    arm = Arm(*({"name": name, "do": {"noted": {}}, "at": "8s", "for": time} for name, time in lasts.items()))
    found = {}
    for second in blinded:
        arm.at(second)
        found[second] = arm.runner.blinds
    assert found == blinded


def test_only_parts_that_a_fault_blinds_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = Arm({"do": {"noted": {}}, "at": "8s", "for": "60s"})
    arm.at(8)
    assert (arm.runner.held, arm.runner.stopped) == ({"kafka"}, frozenset())
    monkeypatch.setattr(Noted, "blinds", True)
    assert arm.runner.stopped == {"kafka"}
    arm.at(68)
    assert arm.runner.stopped == frozenset()


def test_a_fault_knows_its_name_in_the_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    begin = Noted.begin

    def noting(fault: Noted, context: Context) -> Acting:
        names.append(context.name)
        return begin(fault, context)

    monkeypatch.setattr(Noted, "begin", noting)
    Arm({"do": {"noted": {}}, "at": "1s", "name": "the first"}).at(1)
    assert names == ["the first"]


def test_a_fault_begins_when_its_condition_holds_and_only_once() -> None:
    arm = Arm({"do": {"noted": {}}, "when": {"committed": "50%"}, "for": "1s"})
    for second, committed in enumerate((0, 49, 50, 60, 70, 80)):
        arm.runner.look(Seen({"committed": committed}))
        arm.at(second)
    assert DONE == ["began", "ended"]
    assert arm.runner.happened[0].from_s == 2


def test_a_fault_begins_some_time_after_its_condition_first_held_also_when_it_no_longer_does() -> None:
    arm = Arm({"do": {"noted": {}}, "when": "lag > 5", "after": "2s"})
    arm.at(1)
    arm.runner.look(Seen({"lag": 6}))
    arm.at(3)
    arm.runner.look(Seen({"lag": 0}))
    arm.at(4.9)
    assert arm.runner.phases == ("waiting",)
    arm.at(5)
    assert arm.runner.phases == ("acting",)
    assert arm.reported[0].from_s == 5


@pytest.mark.parametrize(("do", "done"), [("noted", ["began"]), ("brief", ["began", "ended"])])
def test_a_request_that_a_fault_waits_for_goes_on_when_the_fault_acts(do: str, done: list[str]) -> None:
    arm = Arm({"do": {do: {}}, "when": {"request": {"prefix": "a/"}}})
    arm.proxy.came = frozenset({RequestSeen(prefix="b/")})
    arm.at(1)
    arm.runner.look(Seen())
    assert DONE == []
    arm.proxy.came = frozenset({RequestSeen(prefix="a/")})
    arm.at(2)
    arm.at(3)
    assert arm.proxy.done == [f"let x go after {done}"]
    assert arm.runner.happened[0].from_s == 2
    arm.runner.end()
    assert arm.proxy.done[1:] == ["ended"]


@pytest.mark.parametrize("do", ["noted", "brief"])
def test_a_fault_that_missed_its_request_has_not_acted_for_the_verdict(do: str) -> None:
    arm = Arm({"do": {do: {}}, "when": {"request": {"prefix": "a/"}}})
    arm.proxy.came, arm.proxy.past = frozenset({RequestSeen(prefix="a/")}), "it missed the request"
    arm.at(1)
    arm.runner.end()
    (happened,) = arm.runner.happened
    assert (happened.from_s, happened.acted, happened.did) == (1, False, "it missed the request; it did")


def test_a_request_goes_on_also_when_the_fault_cannot_begin() -> None:
    arm = Arm({"do": {"noted": {"fails": "begin"}}, "when": {"request": {"prefix": "a/"}}})
    arm.proxy.came = frozenset({RequestSeen(prefix="a/")})
    arm.at(1)
    assert arm.proxy.done == ["let x go after ['began', 'undone kafka']"]


def test_the_next_look_is_early_enough_for_the_end_of_a_fault() -> None:
    arm = Arm({"do": {"noted": {}}, "at": "1s", "for": "2s"})
    assert arm.runner._until_next_s() == 0.1
    arm.at(1)
    arm.clock.now = 2.97
    assert arm.runner._until_next_s() == pytest.approx(0.03)
    arm.clock.now = 3.5
    assert arm.runner._until_next_s() == 0


@pytest.mark.parametrize(
    ("do", "done", "to_s"), [("noted", ["began"], 1000), ("brief", ["began", "ended"], 1)], ids=["the arm", "itself"]
)
def test_what_has_no_time_ends_with(do: str, done: list[str], to_s: float) -> None:
    arm = Arm({"do": {do: {}}, "at": "1s"})
    arm.at(1)
    arm.at(1000)
    assert done == DONE
    arm.runner.end()
    assert DONE == ["began", "ended"]
    assert arm.runner.happened[0].to_s == to_s


def test_what_never_began_says_so() -> None:
    arm = Arm({"do": {"noted": {}}, "at": "100s"})
    arm.at(1)
    arm.runner.end()
    arm.at(200)
    assert arm.runner.happened == (Happened("x", "noted: {}, at 100s"),)
    assert (DONE, arm.reported) == ([], [])


@pytest.mark.parametrize(
    ("part", "begins"),
    [("kafka", [False, False, True]), ("another", [False, True, True])],
    ids=["same part", "another"],
)
def test_what_is_due_waits_for_one_that_is_over_when_it_is_done(part: str, begins: list[bool]) -> None:
    """A copy of a store may take long on a busy machine, and then meets what was to come after it."""
    works: list[Callable[[], None]] = []
    arm = Arm(
        {"do": {"brief": {}}, "at": "1s"},
        {"name": "y", "do": {"noted": {"part": part}}, "at": "2s"},
        start=works.append,
    )
    seen = []
    for second in (1, 2, 3):
        arm.at(second)
        seen.append(arm.runner.phases[1] != "waiting")
        if second == 2:
            works[0]()  # the first is done now
    assert seen == begins


def test_what_could_not_begin_is_undone_and_shows_nothing() -> None:
    arm = Arm({"do": {"noted": {"fails": "begin"}}, "at": "1s"})
    arm.at(1)
    assert DONE == ["began", "undone kafka"]
    (happened,) = arm.runner.happened
    assert (happened.acted, happened.did) == (False, "it could not begin: the part refused")
    assert (arm.excuses.now, arm.journal.pages()) == ([], ())
    arm.runner.look(Seen())  # the run goes on: the verdict says that nothing was shown


def test_what_another_fault_has_changed_is_not_changed_again_and_the_other_acts_on() -> None:
    arm = Arm(
        {"name": "one", "do": {"noted": {"claimed": "x"}}, "at": "1s"},
        {"name": "two", "do": {"noted": {"claimed": "x"}}, "at": "2s"},
    )
    arm.at(1)
    arm.at(2)
    assert DONE == ["began"]
    assert arm.runner.phases == ("acting", "over")
    refused = "it could not begin: fault 'one' (noted: {claimed: x}), of the scenario's timeline, acts on x"
    assert arm.runner.happened[1].did == f"{refused} until the arm ends"
    assert [page.entry.name for page in arm.journal.pages()] == ["one"]


def test_what_another_run_has_changed_of_the_same_cluster_is_not_changed_again() -> None:
    other = Journal("run0")
    other.claim(other.open("theirs", Noted()), frozenset({"x"}), "cluster-a")
    arm = Arm({"do": {"noted": {"claimed": "x"}}, "at": "1s"}, cluster="cluster-a")
    arm.at(1)
    assert DONE == []
    assert "fault 'theirs' (noted: {}) of run run0 acts on x of the same Kafka cluster" in arm.runner.happened[0].did


def test_what_cannot_be_ended_stops_the_run_and_is_undone_another_way() -> None:
    arm = Arm({"do": {"noted": {"fails": "end"}}, "at": "1s", "for": "1s"})
    arm.at(1)
    arm.at(2)
    assert DONE == ["began", "ended", "undone kafka"]
    assert arm.journal.pages() == ()
    with pytest.raises(StackError, match="fault 'x' could not be ended: the part is silent"):
        arm.runner.look(Seen())


def test_what_cannot_be_undone_either_stays_in_the_journal() -> None:
    arm = Arm({"do": {"noted": {"fails": "undo"}}, "at": "1s"})
    arm.at(1)
    with pytest.raises(StackError, match="the part is silent"):
        arm.runner.end()
    assert [page.entry.name for page in arm.journal.pages()] == ["x"]


def test_what_cannot_be_undone_is_named() -> None:
    arm = Arm({"do": {"noted": {"irreversible": "2 partitions more"}}, "at": "1s"})
    arm.at(1)
    arm.runner.end()
    assert arm.runner.happened[0].irreversible == ("2 partitions more",)
    assert arm.journal.pages() == ()


def test_leases_are_renewed_while_a_fault_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    renewed = []
    monkeypatch.setattr("devkit.guardian.lease.renew", renewed.append)
    arm = Arm({"do": {"noted": {}}, "at": "1s", "for": "10s"})
    for second in range(20):
        arm.at(second)
    assert len(renewed) == 5


def test_what_is_undone_from_outside_has_not_acted_and_is_over_at_once() -> None:
    arm = Arm({"do": {"noted": {}}, "at": "1s"})
    arm.at(1)
    arm.journal.pages()[0].close()
    arm.at(3)
    assert arm.runner.phases == ("over",)
    arm.runner.end()
    (happened,) = arm.runner.happened
    assert (happened.acted, happened.from_s, happened.to_s) == (False, 1, 3)
    assert "it was undone from outside, as its lease was not renewed for 15 s" in happened.did
    assert (arm.excuses.now, arm.runner.held) == ([], frozenset())


def test_what_is_undone_from_outside_just_before_its_end_has_not_acted() -> None:
    arm = Arm({"do": {"noted": {"fails": "end"}}, "at": "1s", "for": "1s"})
    arm.at(1)
    arm.journal.pages()[0].close()
    arm.at(2)
    arm.runner.look(Seen())  # nothing is left that could not be ended
    (happened,) = arm.runner.happened
    assert (happened.acted, happened.to_s) == (False, 2)
    assert "undone from outside" in happened.did


def test_the_end_waits_for_what_is_just_beginning() -> None:
    works: list[Callable[[], None]] = []
    arm = Arm({"do": {"noted": {}}, "at": "1s"}, start=works.append)
    arm.at(1)
    assert arm.runner.held == {"kafka"}
    works.pop()()
    assert DONE == ["began"]
    arm.runner._start = lambda work: work()
    arm.runner.end()
    assert DONE == ["began", "ended"]


def test_its_own_thread_plays_it() -> None:
    arm = Arm({"do": {"noted": {}}, "at": "0s"}, start=None)
    arm.runner.start()
    arm.runner._await(lambda: bool(DONE))
    arm.runner.end()
    assert DONE == ["began", "ended"]


class TestRecordsInWhatWasMade:
    """Of a fault that made a topic or partitions of it, asked when the arm is over."""

    def of(self, monkeypatch: pytest.MonkeyPatch, *, acted: bool) -> str:
        made = SimpleNamespace(end=lambda: Proof(acted, "it grew"), unreached=lambda: "partition 2 of topic t")
        monkeypatch.setattr(Brief, "begin", lambda _self, _context: made)
        arm = Arm({"do": {"brief": {}}, "at": "8s"})
        arm.at(8)
        arm.runner.end()
        arm.runner.look_for_records()
        (happened,) = arm.runner.happened
        return happened.unreached

    @pytest.mark.parametrize(("acted", "unreached"), [(True, "partition 2 of topic t"), (False, "")])
    def test_is_noted_of_one_that_acted(self, monkeypatch: pytest.MonkeyPatch, *, acted: bool, unreached: str) -> None:
        assert self.of(monkeypatch, acted=acted) == unreached

    @pytest.mark.parametrize("second", [1, 8])
    def test_others_made_nothing(self, second: float) -> None:
        arm = Arm({"do": {"brief": {}}, "at": "8s"})
        arm.at(second)
        arm.runner.look_for_records()
        assert [item.unreached for item in arm.runner.happened] == [""]
