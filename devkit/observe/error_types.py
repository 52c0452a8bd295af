"""The error types that the pipeline has, and the inconsistencies that it reports of an entity's events."""

from located_config.near import near_miss
from pipeline.records.error_types import ERROR_TYPES

INCONSISTENCIES = frozenset(
    {
        "missed_undelete",
        "newer_revision_seen",
        "reconcile_ambiguous_creation",
        "reconcile_ambiguous_deletion",
        "unmatched_delete",
    }
)


def unknown_error_type(error: str) -> str:
    """What is wrong with an error type that the pipeline does not have; "" for one that it has."""
    if error in ERROR_TYPES or error in INCONSISTENCIES:
        return ""
    return f"the pipeline has no error type {error!r}; {near_miss(error, sorted({*ERROR_TYPES, *INCONSISTENCIES}))}"
