from devkit.observe.expected_output.registry import TRUTHS
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.jobs.registry import JOBS


def test_each_job_of_the_project_has_a_truth() -> None:
    assert set(TRUTHS) == set(JOB_DEFAULTS) == set(JOBS)
