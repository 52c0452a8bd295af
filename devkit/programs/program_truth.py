"""The expected output of a program in an arm, computed from the mock that it fetches from."""

import functools

from devkit.observe.expected_output.truth import JobTruth, WikiAnswers
from devkit.programs.program import ConfiguredProgram
from devkit.stack.parts.mock_api import MockApi

_KEPT = 8


def truth_of(program: ConfiguredProgram, mock: MockApi) -> JobTruth | None:
    """None for one whose output no audit can judge. The last few answers are kept: documents are large."""
    keep = functools.lru_cache(maxsize=_KEPT)
    return program.truth and program.truth(WikiAnswers(html=keep(mock.truth), body=keep(mock.truth_at)))
