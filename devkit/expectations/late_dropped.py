"""What Spark dropped without a word as it was behind the watermark: those events are lost."""

from devkit.expectations.base import Measure

LATE_DROPPED = Measure(
    name="late_dropped",
    value=lambda observation: observation.late_dropped,
    unknown="the main program reported no state",
    summary=(
        "Number of source rows that Spark dropped in a stateful operator because they were behind its watermark, "
        "as reported for each batch (`state_committed`). Nothing else shows them."
    ),
    example="{at_least: 1}",
)
