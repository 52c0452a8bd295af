"""How many records carry a claim check whose payload is in the store, with the length and hash they state."""

from devkit.expectations.base import Measure
from devkit.expectations.timing import fetch_window

CLAIM_CHECKS = Measure(
    name="claim_checks",
    value=lambda observation: observation.audit.claim_checks,
    timing=fetch_window,
    needs=frozenset({"sources"}),
    summary=(
        "Number of records that carry a claim check whose payload is in the store, with the length and the "
        "hash that they state."
    ),
    example="1",
)
