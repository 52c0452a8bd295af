"""Whether anything left the pipeline from beyond the batch that failed: events at or after its end offset."""

from devkit.expectations.base import Measure
from devkit.expectations.timing import of_failed_batch

PAST_FAILED_BATCH = Measure(
    name="past_failed_batch",
    of=lambda observation: observation.past_failed_batch,
    absent="no batch failed",
    timing=of_failed_batch,
    needs=frozenset({"offsets"}),
    summary="Number of events that were emitted from beyond the batch that failed, at its end offset or after it.",
    example="0",
)
