"""Kinds of programs, as scenarios name them."""

import pytest

from devkit.errors import UsageError
from devkit.programs.command.program import CommandProgram
from devkit.programs.registry import KINDS, find_program, register
from devkit.programs.spark.program import SPARK, SparkKind, SparkProgram


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
