from typing import Any

import pytest

from mockapi.rules.book import RuleBook
from mockapi.rules.matching import Subject, Target
from mockapi.rules.model import Rule
from mockapi.server.request import Request
from tests.unit.mockapi.manual_time import ManualTime


@pytest.fixture
def time() -> ManualTime:
    return ManualTime()


@pytest.fixture
def changes() -> list[list[str]]:
    """The names effective, each time the book told of a change."""
    return []


@pytest.fixture
def book(time: ManualTime, changes: list[list[str]]) -> RuleBook:
    made = RuleBook(1, time.monotonic, time.later, lambda rules: changes.append([rule.name for rule in rules]))
    made.begin()
    return made


def rule(name: str = "r", when: dict[str, Any] | None = None, **rest: Any) -> Rule:
    return Rule.model_validate({"name": name, "when": when or {}, "do": {"status": 404}, **rest})


def asked(revision: int = 1, attempt: int = 1, at_s: float = 0.0) -> Subject:
    request = Request("GET", "/p", "/p", "", {}, "127.0.0.1")
    return Subject(request, (Target("enwiki", "T", 1, revision),), key=str(revision), attempt=attempt, at_s=at_s)


def names(rules: tuple[Rule, ...]) -> list[str]:
    return [one.name for one in rules]


def test_all_that_match_apply_in_order(book: RuleBook) -> None:
    book.replace([rule("b"), rule("no", {"wiki": "dewiki"}), rule("a", {"page": "T"})])
    assert names(book.match(asked())) == ["b", "a"]


def test_a_rule_ends_after_its_ttl_and_is_still_listed(
    book: RuleBook, time: ManualTime, changes: list[list[str]]
) -> None:
    book.replace([rule("short", ttl="3s"), rule("long")])
    time.pass_s(2.9)
    assert names(book.match(asked())) == ["short", "long"]
    assert book.statuses()[0].ttl_remaining_s == pytest.approx(0.1)
    time.pass_s(0.1)
    assert names(book.match(asked())) == ["long"]
    assert names(book.rules) == ["short", "long"]
    assert [one.phase for one in book.statuses()] == ["expired", "effective"]
    assert changes == [["short", "long"], ["long"]]


def test_a_ttl_that_began_before_the_loop_goes_on(time: ManualTime, changes: list[list[str]]) -> None:
    book = RuleBook(1, time.monotonic, time.later, lambda rules: changes.append([one.name for one in rules]))
    book.replace([rule(ttl="3s")])
    assert time.pending == 0
    time.pass_s(1)
    book.begin()
    time.pass_s(2)
    assert changes == [["r"], []]


def test_a_rule_fires_so_many_times(book: RuleBook, changes: list[list[str]]) -> None:
    book.replace([rule(times=2, when={"revision": 1})])
    assert [len(book.match(asked(revision))) for revision in (1, 2, 1, 1)] == [1, 0, 1, 0]
    (status,) = book.statuses()
    assert (status.phase, status.fired, status.matched, status.times_remaining) == ("spent", 2, 2, 0)
    assert changes[-1] == []


@pytest.mark.parametrize(
    ("nth", "fires"),
    [(2, "-x----"), ({"every": 2}, "x-x-x-"), ({"at_least": 2, "every": 2}, "-x-x-x"), ({"at_most": 3}, "xxx---")],
)
def test_nth_counts_the_requests_that_fit_the_rest(book: RuleBook, nth: object, fires: str) -> None:
    book.replace([rule(when={"nth": nth, "revision": 1})])
    seen = ""
    for _ in fires:
        assert not book.match(asked(2))
        seen += "x" if book.match(asked(1)) else "-"
    assert seen == fires


def test_a_look_counts_nothing(book: RuleBook) -> None:
    book.replace([rule(times=1)])
    assert names(book.peek(asked())) == names(book.peek(asked())) == ["r"]
    assert names(book.match(asked())) == ["r"]
    assert book.peek(asked()) == ()


def test_switching_keeps_the_count_and_putting_begins_anew(book: RuleBook) -> None:
    book.replace([rule("a", times=2), rule("b")])
    book.match(asked())
    book.switch("a", on=False)
    assert names(book.match(asked())) == ["b"]
    assert book.statuses()[0].phase == "switched off"
    book.switch("a", on=True)
    assert names(book.match(asked())) == ["a", "b"]
    assert names(book.match(asked())) == ["b"]
    book.put(rule("a", times=1))
    assert names(book.match(asked())) == ["a", "b"]
    assert book.statuses()[1].fired == 5


def test_a_rule_that_is_switched_off_from_the_start_does_nothing(book: RuleBook) -> None:
    book.replace([rule(enabled=False)])
    assert book.match(asked()) == ()


def test_removing_ends_the_timer(book: RuleBook, time: ManualTime) -> None:
    book.replace([rule("a", ttl="3s"), rule("b")])
    book.remove("a")
    assert names(book.rules) == ["b"]
    assert time.pending == 0
    with pytest.raises(KeyError):
        book.remove("a")


def test_a_rule_that_did_not_fire_is_explained(book: RuleBook, time: ManualTime) -> None:
    book.replace(
        [rule("other", {"revision": 2}), rule("third", {"nth": 3}), rule("short", ttl="1s"), rule("off", enabled=False)]
    )
    fired = names(book.match(asked()))
    assert fired == ["short"]
    time.pass_s(2)
    answer = {name: book.explain(name, asked(), fired) for name in ("other", "third", "short", "off")}
    assert [(one.key, one.wanted, one.got) for one in answer["other"]] == [("revision", "(2,)", "1")]
    assert [one.key for one in answer["third"]] == ["nth"]
    assert answer["short"] == ()
    assert [one.got for one in answer["off"]] == ["switched off"]
    assert [one.got for one in book.explain("short", asked(), ())] == ["expired"]


def test_a_window_begins_when_its_rule_came_into_force_if_that_was_later(time: ManualTime) -> None:
    """So a rule that is added to a wiki that has been asked for an hour has its window still before it."""
    since_first: list[float | None] = [None]
    book = RuleBook(1, time.monotonic, time.later, elapsed=lambda: since_first[0])
    window = {"window": {"from": "2s", "for": "3s"}}
    book.replace([rule("before", window)])
    since_first[0] = 3600.0
    book.put(rule("late", window))
    of_before = [names(book.match(asked(at_s=at_s))) for at_s in (1.9, 2.0, 4.9, 5.0)]
    of_late = [names(book.match(asked(at_s=at_s))) for at_s in (3601.9, 3602.0, 3604.9, 3605.0)]
    assert of_before == [[], ["before"], ["before"], []]
    assert of_late == [[], ["late"], ["late"], []]
    assert (book.age_s("before", 3610.0), book.age_s("late", 3610.0), book.age_s("gone", 3610.0)) == (3610, 10, 3610)
