"""Compares the end of an arm with its beginning: slower batches, or less progress after a restart.

batch_growth      time of the last quarter of the micro-batches against the first, without the first of each process
restart_progress  micro-batches that the second process wrote before it ended, against the first
"""

from statistics import mean

from devkit.expectations.base import Measure
from devkit.expectations.bounds import NumberBound
from devkit.expectations.timing import arm_window, restart_window
from devkit.observe.arm_observation import ArmObservation
from located_config.count import counted

_FEWEST = 4


def _batch_growth(observation: ArmObservation) -> float | None:
    lasted = [seconds for _, seconds in observation.warm_batches]
    quarter = len(lasted) // 4
    first = mean(lasted[:quarter]) if quarter else 0.0
    return mean(lasted[-quarter:]) / first if first else None


def _restart_progress(observation: ArmObservation) -> float | None:
    written = [batches for _, batches in observation.written_by_process]
    return written[1] / written[0] if len(written) > 1 and written[0] else None


BATCH_GROWTH = Measure(
    name="batch_growth",
    value=_batch_growth,
    argument=NumberBound,
    timing=arm_window,
    unknown=f"fewer than {_FEWEST} batches came after the first one of their process",
    format_value=lambda value, observation: f"{value:.2f} (of {len(observation.warm_batches)} batches)",
    needs=frozenset({"batches"}),
    summary=(
        "Mean time of the last quarter of the main program's micro-batches, divided by that of the first quarter: "
        "2 if batches have become twice as slow. A batch that was not written counts until its process ended. The "
        "first batch of a process does not count, as its JVM is cold. Unknown with fewer than four batches."
    ),
    example="{at_least: 2}",
)

RESTART_PROGRESS = Measure(
    name="restart_progress",
    value=_restart_progress,
    argument=NumberBound,
    timing=restart_window,
    unknown="fewer than two processes ended by themselves after their query had begun, or the first wrote no batch",
    format_value=lambda value, observation: (
        f"{value:.2f} ({observation.written_by_process[1][1]:.0f} of "
        f"{counted(int(observation.written_by_process[0][1]), 'batch', 'batches')})"
    ),
    needs=frozenset({"batches", "words"}),
    summary=(
        "Micro-batches that the second process of the main program wrote before it ended by itself, divided by "
        "those of the first: below 1 if the restart got less far. It does not depend on the machine's speed."
    ),
    example="{at_most: 0.5}",
)
