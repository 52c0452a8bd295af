"""Kinds of programs, as scenarios name them, and the truth that the output of each is held against."""

from types import SimpleNamespace
from typing import cast

import pytest

from devkit.errors import UsageError
from devkit.observe.expected_output.content_truth import ContentTruth
from devkit.observe.expected_output.html_truth import HtmlTruth
from devkit.programs.command.program import CommandProgram
from devkit.programs.places import NOWHERE
from devkit.programs.program_truth import truth_of
from devkit.programs.registry import KINDS, find_program, register
from devkit.programs.spark.program import SPARK, SparkKind, SparkProgram
from devkit.programs.unknown_program import unknown_program
from devkit.stack.parts.mock_api import MockApi


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
