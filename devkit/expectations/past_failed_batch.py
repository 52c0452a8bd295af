"""Whether anything left the pipeline from beyond the batch that failed: events at or after its end offset."""

from devkit.expectations.base import Measure
from devkit.expectations.timing import failed_batch_window

PAST_FAILED_BATCH = Measure(
    name="past_failed_batch",
    value=lambda observation: observation.past_failed_batch,
    absent="no batch failed",
    timing=failed_batch_window,
    needs=frozenset({"checkpoint"}),
    summary="Number of events emitted from behind the batch that failed, that is from its end offset on.",
    example="0",
)
