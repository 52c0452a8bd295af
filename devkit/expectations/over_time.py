"""Whether things become slower, or end sooner, as an arm goes on: its end against its beginning, on one machine.

batch_growth    the last quarter of the micro-batches against the first, without the first one of each process
lifetime_ratio  from the start of the query to the end of its process, of the second process against the first
"""

from statistics import mean

from devkit.expectations.base import Measure
from devkit.expectations.bounds import NumberBound
from devkit.expectations.timing import of_arm
from devkit.observe.arm_observation import ArmObservation

_FEWEST = 4


def _batch_growth(observation: ArmObservation) -> float | None:
    lasted = [seconds for _, seconds in observation.warm_batches]
    quarter = len(lasted) // 4
    first = mean(lasted[:quarter]) if quarter else 0.0
    return mean(lasted[-quarter:]) / first if first else None


def _lifetime_ratio(observation: ArmObservation) -> float | None:
    lived = [seconds for _, seconds in observation.lifetimes]
    return lived[1] / lived[0] if len(lived) > 1 and lived[0] else None


BATCH_GROWTH = Measure(
    "batch_growth",
    _batch_growth,
    argument=NumberBound,
    timing=of_arm,
    unknown=f"fewer than {_FEWEST} batches came after the first one of their process",
    tell=lambda value, observation: f"{value:.2f} (of {len(observation.warm_batches)} batches)",
    needs=frozenset({"batches"}),
    summary=(
        "Mean time of the last quarter of the main program's micro-batches, divided by that of the first quarter: 2 "
        "where they have become twice as slow. One that was not written counts until its process ended, and the first "
        "one of a process, whose JVM is cold, does not. Not known of fewer than four."
    ),
    example="{at_least: 2}",
)

LIFETIME_RATIO = Measure(
    "lifetime_ratio",
    _lifetime_ratio,
    argument=NumberBound,
    timing=of_arm,
    unknown="fewer than two processes ended by themselves after their query had begun",
    tell=lambda value, observation: (
        f"{value:.2f} ({observation.lifetimes[1][1]:.1f} s / {observation.lifetimes[0][1]:.1f} s)"
    ),
    needs=frozenset({"words"}),
    summary=(
        "Time from the start of its query to the end of the process, of the second process of the main program that "
        "ended by itself, divided by that of the first: below 1 where the restart ended sooner."
    ),
    example="{at_most: 0.8}",
)
