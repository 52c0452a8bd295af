"""The error types that the pipeline has."""

from located_config.near import near_miss
from pipeline.records.error_types import ERROR_TYPES


def unknown_error_type(error: str) -> str:
    """What is wrong with an error type that the pipeline does not have; "" for one that it has."""
    if error in ERROR_TYPES:
        return ""
    return f"the pipeline has no error type {error!r}; {near_miss(error, sorted(ERROR_TYPES))}"
