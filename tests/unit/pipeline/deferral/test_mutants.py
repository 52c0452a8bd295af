"""Each way to get the protocol wrong breaks a property within some hundred random walks, and this is which.

The walks are seeded: the same mutant is found at the same seed, until the code or the model changes. P0, the direct
comparison of ledger and fold, is off where the harm that comes of it is to be seen.
"""

import pytest

from tests.unit.pipeline.deferral import mutants
from tests.unit.pipeline.deferral.driver import Driver
from tests.unit.pipeline.deferral.play import DEFAULT_SETTINGS, Odds
from tests.unit.pipeline.deferral.settings import Settings
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
    (mutants.VoidsAreNotRevived, "P2"),
    (mutants.GapIsIdle, "P6"),
    (mutants.SlowRoundFolds, "P1"),
    (mutants.MainTopicsMix, "P1"),
    (mutants.SlowTopicsMix, "P1"),
    (mutants.AllThatIsReadIsTheBatchs, "P3"),
    (mutants.BatchForgetsWhatItDeferred, "P1"),
    (mutants.SlowPageGoesOn, "P1"),
    (mutants.ForgetBeforeAck, "P7"),
    (mutants.RoundKeepsNothing, "P7"),
    (mutants.SettleBeforeAck, "P2"),
]
# Takes a minute to be found.
GATE = pytest.param(mutants.GateBeforeTheMarker, "P1", marks=pytest.mark.slow)
SPLIT = [(mutants.GivenUpDriverCommits, "P2"), GATE]
# Drivers that die again and again, most of them while they wait for room in a ledger that is full at once.
FULL = Settings(max_entries=0, reservations=1, max_offsets=1, rounds=1)
CROWDED = Odds(crash=2, command=0, lose=0, take=0.2, land=60, outcomes=("slow",), produce=6)
# A batch's deferred events of a page are quicker than its output, and the driver dies between the two.
HALF_WRITTEN = Odds(crash=1, command=0, late=0.3, pages=1, take=16, land=24, outcomes=("ok", "slow"), laggard="ledger")
# Drivers that die again and again with records of one page on their way, most of which arrive without those before.
CUT_SHORT = Odds(crash=2, command=0, lose=2, late=4, pages=1, outcomes=("ok",), produce=6, land=6)
# A broker that refuses a record now and then, of a page whose next one is on its way.
REFUSED = Odds(crash=0, command=0, late=4, pages=1, outcomes=("ok",), produce=6, land=6, refuse=1)
RESTARTS = [
    (mutants.ProducerGivesUp, "P1", CUT_SHORT, DEFAULT_SETTINGS),
    (mutants.ProducerGivesUp, "P1", REFUSED, DEFAULT_SETTINGS),
    (mutants.ReplayIgnoresTheBound, "P8", CROWDED, FULL),
    (mutants.ReplayWaitsForTheBound, "P6", CROWDED, FULL),
    (mutants.WholePagesBeforeTheReplay, "P1", HALF_WRITTEN, DEFAULT_SETTINGS),
    (mutants.ZombiesCount, "P2", HAUNTED, DEFAULT_SETTINGS),
]
SET_BACK = Odds(set_back=0.3, outcomes=("ok", "slow", "slow"))
OUTAGES = Odds(crash=0.1, command=0, outage=2, outcomes=("ok", "ok", "slow"))
KNOWN = [mutants.OutagesCostTries, mutants.OpenWikisAreTried]
# An executor that is lost, and lives on. The topic keeps an entry that nobody knows of, so its page never comes back.
LOSSES = [(mutants.LosersCount, "P3"), (mutants.NothingIsRepaired, "P6"), (mutants.RoundsDefer, "P6")]
# What these write too late is seen in the topic at once, and does harm only much later.
STALE = [(mutants.CommandsReachBusyPages, None), (mutants.BusyPagesAreRepaired, HAUNTED)]


def broken_property(
    mutant: type[Driver],
    wanted: str,
    *,
    odds: Odds | None = None,
    settings: Settings = DEFAULT_SETTINGS,
    compare: bool = False,
    lose_worker: float = 0,
) -> str:
    """The first violation of the wanted property, or what there was instead."""
    found = "none"
    for seed in range(MOST_WALKS):
        try:
            walk(seed, driver=mutant, odds=odds, settings=settings, compare=compare, lose_worker=lose_worker)
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


@pytest.mark.parametrize(("mutant", "wanted", "odds", "settings"), RESTARTS)
def test_what_goes_wrong_by_restarts_is_noticed(
    mutant: type[Driver], wanted: str, odds: Odds, settings: Settings
) -> None:
    assert broken_property(mutant, wanted, odds=odds, settings=settings) == wanted


@pytest.mark.parametrize("mutant", KNOWN)
def test_what_an_outage_may_cost_is_noticed(mutant: type[Driver]) -> None:
    assert broken_property(mutant, "P9", odds=OUTAGES) == "P9"


@pytest.mark.parametrize(("mutant", "wanted"), LOSSES)
def test_a_worker_that_is_lost_and_writes_on_breaks_it(mutant: type[Driver], wanted: str) -> None:
    assert broken_property(mutant, wanted, lose_worker=0.5) == wanted


def test_a_clock_that_was_set_back_is_noticed() -> None:
    assert broken_property(mutants.RestsForADay, "P6", odds=SET_BACK) == "P6"


def test_every_mutant_is_tried() -> None:
    defined = {one for one in vars(mutants).values() if isinstance(one, type) and issubclass(one, Driver)}
    listed = [
        *BROKEN,
        *SPLIT,
        *STALE,
        *RESTARTS,
        *LOSSES,
        *((mutant, "P9") for mutant in KNOWN),
        (mutants.RestsForADay,),
        (mutants.VoidsAreBuried,),
        (mutants.MarkersShareAKey,),
    ]
    tried = {(one.values if hasattr(one, "values") else one)[0] for one in listed}
    assert defined - {Driver} == tried


def test_a_tombstone_over_a_void_record_may_come_too_late() -> None:
    """One walk in some ten thousand long ones: a driver finds an entry that a dead one wrote too late, of an event that
    is not committed, writes a tombstone over it and dies; the next one defers the event; then the tombstone arrives,
    void, and compaction keeps neither.
    """
    seed, steps = 1016376, 200
    with pytest.raises(Violation, match=r"P2: .* is committed and nowhere"):
        walk(seed, steps=steps, driver=mutants.VoidsAreBuried)
    walk(seed, steps=steps)


def test_markers_of_one_key_may_bring_void_records_back() -> None:
    """One walk in some twenty thousand long ones: a driver ends as it starts, with its marker on its way, and the next
    one takes the same epoch. A driver that lives on writes a record behind the marker of the second. Then that of the
    first arrives, and compaction keeps it alone, behind the record.
    """
    seed, steps, lost = 1007691, 200, 0.3
    with pytest.raises(Violation, match="P0: the ledger is not the fold of its topic"):
        walk(seed, steps=steps, driver=mutants.MarkersShareAKey, split_brain=True, lose_worker=lost)
    walk(seed, steps=steps, split_brain=True, lose_worker=lost)
