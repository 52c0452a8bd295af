"""The expected output of a program in an arm, computed from the mock that it fetches from."""

import functools

from devkit.observe.expected_output.truth import JobTruth, WikiAnswers
from devkit.programs.program import ConfiguredProgram
from devkit.stack.parts.mock_api import MockApi
from devkit.traffic.records import DumpedEntities

_KEPT = 8


def truth_of(program: ConfiguredProgram, mock: MockApi, dump: DumpedEntities | None = None) -> JobTruth | None:
    """None for one whose output no audit can judge. The last few answers are kept: documents are large.

    `dump` is the one that the triple store was loaded with.
    """
    keep = functools.lru_cache(maxsize=_KEPT)
    return program.truth and program.truth(WikiAnswers(keep(mock.truth), keep(mock.truth_at), dump))
