"""What Spark dropped without a word as it was behind the watermark: those events are lost."""

from devkit.expectations.base import Measure

LATE_DROPPED = Measure(
    name="late_dropped",
    of=lambda observation: observation.late_dropped,
    unknown="the main program reported no state",
    summary=(
        "Number of source rows that Spark dropped in a stateful operator as they were behind its watermark, by what it "
        "reports of each batch (`state_committed`). Nothing else tells of them."
    ),
    example="{at_least: 1}",
)
