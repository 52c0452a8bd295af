"""Each way to get the protocol wrong breaks a property within some hundred random walks, and this is which.

The walks are seeded: the same mutant is found at the same seed, until the code or the model changes. P0, the direct
comparison of ledger and fold, is off where the harm that comes of it is to be seen.
"""

import pytest

from tests.unit.pipeline.deferral import mutants
from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.play import Odds
from tests.unit.pipeline.deferral.walk import walk
from tests.unit.pipeline.deferral.world import Violation

MOST_WALKS = 6000
# A page that is taken, fails and is given up together with its driver, over and over.
HAUNTED = Odds(crash=1, late=1, lose=0, pages=1, outcomes=("slow", "slow", "ok"), produce=1, take=16, land=6)

# Two drivers at once, whose deferred records are quicker than their output.
TWO = Odds(
    crash=0, late=1, command=0, pages=1, outcomes=("ok", "slow"), take=16, land=6, laggard="emissions", split_brain=True
)

BROKEN = [
    (mutants.NoGate, "P1"),
    (mutants.SlowTombstoneBeforeAck, "P2"),
    (mutants.MainTombstoneBeforeAck, "P2"),
    (mutants.UnblockOnTake, "P1"),
    (mutants.FoldAfterNextPlan, "P1"),
    (mutants.OnlyPagesThatBeginStuck, "P6"),
    (mutants.ReplayWaitsForTheBound, "P6"),
    (mutants.GapIsIdle, "P6"),
    (mutants.SlowRoundFolds, "P1"),
    (mutants.MainTopicsMix, "P1"),
    (mutants.SlowTopicsMix, "P1"),
    (mutants.AllThatIsReadIsTheBatchs, "P3"),
    (mutants.ZombiesCount, "P2"),
    (mutants.NothingIsRepaired, "P2"),
    (mutants.BatchForgetsWhatItDeferred, "P1"),
    (mutants.SlowPageGoesOn, "P1"),
    (mutants.ForgetBeforeAck, "P7"),
    (mutants.SettleBeforeAck, "P2"),
]
SPLIT = [(mutants.GivenUpDriverCommits, "P2"), (mutants.GateBeforeTheMarker, "P1")]
# What these write too late is seen in the topic at once, and does harm only much later.
STALE = [(mutants.CommandsReachBusyPages, None), (mutants.BusyPagesAreRepaired, HAUNTED)]


def broken_property(mutant: type[Driver], wanted: str, *, odds: Odds | None = None, compare: bool = False) -> str:
    """The first violation of the wanted property, or what there was instead."""
    found = "none"
    for seed in range(MOST_WALKS):
        try:
            walk(seed, driver=mutant, odds=odds, compare=compare)
        except Violation as violation:
            found = str(violation)[:2]
            if found == wanted:
                break
    return found


@pytest.mark.parametrize(("mutant", "wanted"), BROKEN)
def test_a_broken_protocol_breaks_a_property(mutant: type[Driver], wanted: str) -> None:
    assert broken_property(mutant, wanted) == wanted


@pytest.mark.parametrize(("mutant", "wanted"), SPLIT)
def test_two_drivers_at_once_break_it(mutant: type[Driver], wanted: str) -> None:
    assert broken_property(mutant, wanted, odds=TWO) == wanted


@pytest.mark.parametrize(("mutant", "odds"), STALE)
def test_a_stale_record_is_noticed(mutant: type[Driver], odds: Odds | None) -> None:
    assert broken_property(mutant, "P0", odds=odds, compare=True) == "P0"


def test_every_mutant_is_tried() -> None:
    defined = {one for one in vars(mutants).values() if isinstance(one, type) and issubclass(one, Driver)}
    assert defined - {Driver} == {mutant for mutant, _ in [*BROKEN, *SPLIT, *STALE]}
