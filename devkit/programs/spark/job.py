"""The job that `run:` names."""

from devkit.errors import UsageError
from pipeline.jobs.names import JOB_DEFAULTS


def job_named(words: str) -> str | None:
    """None where none is named. Raises UsageError that lists the jobs."""
    if not words:
        return None
    if words not in JOB_DEFAULTS:
        raise UsageError(f"there is no job {words!r}", hint=f"there are: {', '.join(JOB_DEFAULTS)}")
    return words
