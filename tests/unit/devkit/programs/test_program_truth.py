from types import SimpleNamespace
from typing import cast

from devkit.observe.expected_output.content_truth import ContentTruth
from devkit.observe.expected_output.html_truth import HtmlTruth
from devkit.programs.consumer import ConsumerKind
from devkit.programs.places import NOWHERE
from devkit.programs.program_truth import truth_of
from devkit.programs.registry import find_program
from devkit.programs.spark.program import SPARK
from devkit.stack.parts.mock_api import MockApi

MOCK = cast(MockApi, SimpleNamespace(truth=lambda wiki, revision: "", truth_at=lambda wiki, path: b""))


def test_it_is_that_of_the_job_which_the_configuration_names() -> None:
    assert isinstance(truth_of(SPARK.configure(NOWHERE, {}), MOCK), HtmlTruth)
    assert isinstance(truth_of(SPARK.configure(NOWHERE, {"job": "content-enrichment"}), MOCK), ContentTruth)


def test_a_command_in_the_place_of_a_job_is_held_against_the_same() -> None:
    command = find_program("command true").configure(NOWHERE, {"job": "content-enrichment"})
    assert isinstance(truth_of(command, MOCK), ContentTruth)


def test_what_has_no_output_has_none() -> None:
    assert truth_of(ConsumerKind().program("").configure(NOWHERE, {}), MOCK) is None
