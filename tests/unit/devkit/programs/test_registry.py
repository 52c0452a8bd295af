"""Kinds of programs and jobs by name, the truth for their outputs, and how settings lie on top of each other."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import UsageError
from devkit.event_bus.streams import STREAMS
from devkit.observe.expected_output.content_truth import ContentTruth
from devkit.observe.expected_output.html_truth import HtmlTruth
from devkit.programs.command.program import CommandProgram
from devkit.programs.places import NOWHERE, merge
from devkit.programs.program_truth import truth_of
from devkit.programs.registry import KINDS, find_program, register
from devkit.programs.spark.program import SPARK, SparkKind, SparkProgram
from devkit.programs.stack_job import DEFAULT, find_stack_job, stack_jobs
from devkit.programs.unknown_program import unknown_program
from devkit.stack.parts.mock_api import MockApi
from pipeline.jobs.names import JOB_DEFAULTS, JobDefaults
from tests.unit.devkit.programs.context import leaves_of

keys = st.sampled_from("abcd")
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
trees = st.recursive(
    st.dictionaries(keys, leaves, max_size=3), lambda inner: st.dictionaries(keys, inner | leaves, max_size=3)
).filter(lambda tree: isinstance(tree, dict))


def test_the_first_word_names_the_kind() -> None:
    assert find_program("pipeline") == SPARK
    assert find_program("pipeline content-enrichment") == SparkProgram("content-enrichment")
    assert isinstance(find_program("command sh -c true"), CommandProgram)


@pytest.mark.parametrize(
    ("run", "hint"),
    [("pipelin x", "did you mean 'pipeline'?"), ("", "`pipeline html-enrichment`"), ("zzz", "`command")],
)
def test_a_kind_that_is_none(run: str, hint: str) -> None:
    with pytest.raises(UsageError, match="no kind of program") as refused:
        find_program(run)
    assert hint in str(refused.value.hint)


def test_the_example_of_a_kind_names_it() -> None:
    assert {kind.example.partition(" ")[0] for kind in KINDS.values()} == set(KINDS)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="'pipeline' already"):
        register(SparkKind())


MOCK = cast(MockApi, SimpleNamespace(truth=lambda wiki, revision: "", truth_at=lambda wiki, path: b""))


@pytest.mark.parametrize(
    ("run", "job", "truth"),
    [
        ("pipeline", {}, HtmlTruth),
        ("pipeline", {"job": "content-enrichment"}, ContentTruth),
        ("command true", {"job": "content-enrichment"}, ContentTruth),
        ("consumer", {}, type(None)),
    ],
)
def test_its_truth_is_that_of_the_job_which_the_configuration_names(
    run: str, job: dict[str, str], truth: type[object]
) -> None:
    assert isinstance(truth_of(find_program(run).configure(NOWHERE, job), MOCK), truth)


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("readr", ["html", "reader"], "there is no program 'readr'; did you mean 'reader'?"),
        ("zzz", ["html", "reader"], "there is no program 'zzz'; there are: html, reader"),
        ("html", [], "there is no program 'html'; `programs` names none"),
    ],
)
def test_a_program_that_is_none(name: str, known: list[str], message: str) -> None:
    assert unknown_program(name, known).startswith(message)


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


class TestMerge:
    @given(trees)
    def test_with_nothing_is_itself(self, base: dict[str, Any]) -> None:
        assert merge(base, {}) == base
        assert merge({}, base) == base

    @given(trees)
    def test_with_itself_is_itself(self, base: dict[str, Any]) -> None:
        assert merge(base, base) == base

    @given(trees, trees, trees)
    def test_order_of_merging_does_not_matter_where_mappings_meet(
        self, low: dict[str, Any], middle: dict[str, Any], high: dict[str, Any]
    ) -> None:
        """Associative but for a leaf between two mappings, which hides the lower one."""
        if not _leaf_between(low, middle, high):
            assert merge(merge(low, middle), high) == merge(low, merge(middle, high))

    @given(trees, trees)
    def test_each_leaf_of_the_overlay_stands(self, base: dict[str, Any], overlay: dict[str, Any]) -> None:
        merged = merge(base, overlay)
        assert all(_at(merged, path) == value for path, value in leaves_of(overlay))

    @given(trees, trees)
    def test_neither_side_is_changed(self, base: dict[str, Any], overlay: dict[str, Any]) -> None:
        before = repr((base, overlay))
        merge(base, overlay)
        assert repr((base, overlay)) == before

    def test_mapping_by_mapping(self) -> None:
        assert merge({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"y": 4}, "c": {}}) == {
            "a": {"x": 1, "y": 4},
            "b": 3,
            "c": {},
        }


def _at(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _leaf_between(low: Any, middle: Any, high: Any) -> bool:
    if isinstance(low, dict) and isinstance(high, dict) and not isinstance(middle, dict):
        return True
    if not (isinstance(low, dict) and isinstance(middle, dict) and isinstance(high, dict)):
        return False
    return any(_leaf_between(low[key], middle[key], high[key]) for key in low.keys() & middle.keys() & high.keys())
