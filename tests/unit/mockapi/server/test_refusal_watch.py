from mockapi.rules.model import Rule
from mockapi.server.listeners import RefusalWatch


class Rules:
    def __init__(self) -> None:
        self.effective: tuple[Rule, ...] = ()
        self.now_s = 100.0
        self.watch = RefusalWatch(lambda: self.effective, lambda: self.now_s)

    def at(self, seconds: float) -> bool:
        self.now_s = 100.0 + seconds
        return self.watch.refuses()


def refusing(seconds: int | None, name: str = "r") -> Rule:
    refuse = {} if seconds is None else {"for": f"{seconds}s"}
    return Rule.model_validate({"name": name, "do": {"refuse": refuse}, "ttl": "1h"})


def test_no_rule_refuses() -> None:
    rules = Rules()
    rules.effective = (Rule.model_validate({"name": "r", "do": {"status": 503}}),)
    assert not rules.at(0)


def test_it_refuses_for_its_time_from_when_it_was_first_seen() -> None:
    rules = Rules()
    rules.effective = (refusing(5),)
    assert [rules.at(seconds) for seconds in (1, 5, 6, 7)] == [True, True, False, False]


def test_without_a_time_as_long_as_it_is_in_force() -> None:
    rules = Rules()
    rules.effective = (refusing(None),)
    assert rules.at(1_000)
    rules.effective = ()
    assert not rules.at(1_001)


def test_the_same_rule_put_again_begins_again() -> None:
    rules = Rules()
    rules.effective = (refusing(5),)
    assert [rules.at(0), rules.at(9)] == [True, False]
    rules.effective = (refusing(5),)
    assert rules.at(10)


def test_of_two_rules_the_longer_one_counts() -> None:
    rules = Rules()
    rules.effective = (refusing(5), refusing(9, "s"))
    assert [rules.at(seconds) for seconds in (0, 8, 9)] == [True, True, False]
