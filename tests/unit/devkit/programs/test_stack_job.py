"""The jobs that a stack can be brought up with, by name."""

import pytest

from devkit.errors import UsageError
from devkit.event_bus.streams import STREAMS
from devkit.programs.stack_job import DEFAULT, find_stack_job, stack_jobs
from pipeline.jobs.names import JOB_DEFAULTS, JobDefaults


def test_all_that_read_page_changes_and_the_updater() -> None:
    assert list(stack_jobs()) == ["html-enrichment", "content-enrichment", "edit-counts", "rdf-updater"]
    assert find_stack_job(DEFAULT).job == "html-enrichment"
    updater = find_stack_job("rdf-updater")
    assert (updater.job, updater.stream, updater.applies) == ("rdf-resolve", "wikibase", True)
    assert updater.before is not None
    assert JOB_DEFAULTS[updater.before.job].output_topic in JOB_DEFAULTS[updater.job].source_topics


@pytest.mark.parametrize("name", stack_jobs())
def test_the_event_bus_fills_source_topics(name: str) -> None:
    job = find_stack_job(name)
    assert set(STREAMS[job.stream].topics) <= set(JOB_DEFAULTS[(job.before or job).job].source_topics)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rdf-updatr", "did you mean 'rdf-updater'?"),
        ("x", "there are: html-enrichment, content-enrichment, edit-counts, rdf-updater"),
        ("rdf-resolve", "give --job rdf-updater"),
        ("rdf-decide", "give --job rdf-updater"),
    ],
)
def test_another_name_is_refused(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_stack_job(name)
    assert (str(caught.value).startswith(f"--job {name}: "), caught.value.hint) == (True, hint)


def test_a_job_of_an_extension_is_among_them_if_it_reads_page_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = {"output_topic": "o", "error_topic": "e", "deferred_topic": "d", "claim_prefix": "c"}
    theirs = {"theirs": JobDefaults(**topics), "others": JobDefaults(source_topics=("s",), **topics)}  # type: ignore[arg-type]
    monkeypatch.setattr("devkit.programs.stack_job.JOB_DEFAULTS", {**JOB_DEFAULTS, **theirs})
    assert find_stack_job("theirs").stream == "page-change"
    assert "others" not in stack_jobs()
