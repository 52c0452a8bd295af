"""The job that `run:` names."""

from typing import get_args

from devkit.errors import UsageError
from pipeline.config import JobName


def job_named(words: str) -> JobName | None:
    """None where none is named. Raises UsageError that lists the jobs."""
    jobs: tuple[JobName, ...] = get_args(JobName)
    if not words:
        return None
    job = next((known for known in jobs if known == words), None)
    if job is None:
        raise UsageError(f"there is no job {words!r}", hint=f"there are: {', '.join(jobs)}")
    return job
