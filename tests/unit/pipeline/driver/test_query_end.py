from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JNetworkError

from pipeline.deferral.fold import FencedError
from pipeline.driver.query_end import ended_by
from pipeline.errors import PipelineError

FULL, NO_DUMP = SimpleNamespace(is_there=True), SimpleNamespace(is_there=False)
GONE = [Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError(111, "Connection refused")]


class Writer:
    def __init__(self, failed: PipelineError | None = None, *, others: bool = False) -> None:
        self.failed, self.others = failed, others

    def check(self) -> None:
        if self.failed is not None:
            raise self.failed

    def look_for_others(self) -> None:
        if self.others:
            raise FencedError("another start has taken the checkpoint over")


@pytest.mark.parametrize("error", GONE)
def test_a_jvm_that_ran_out_of_memory_is_gone_and_that_is_said(error: Exception) -> None:
    """A batch that could not ask it any more has failed as well, and says less."""
    failed = PipelineError("batch 3 failed: [Errno 111] Connection refused")
    for writer in (Writer(), Writer(failed)):
        words = str(ended_by(writer, FULL, error))
        assert words.startswith("query failed: java.lang.OutOfMemoryError: the JVM of Spark has ended")


@pytest.mark.parametrize("error", GONE)
def test_one_that_has_left_nothing_is_said_to_be_gone(error: Exception) -> None:
    assert f"does not answer ({type(error).__name__})" in str(ended_by(Writer(), NO_DUMP, error))
    with pytest.raises(PipelineError, match=r"^batch 3 failed"):
        ended_by(Writer(PipelineError("batch 3 failed")), NO_DUMP, error)


@pytest.mark.parametrize("dump", [FULL, NO_DUMP])
def test_what_spark_says_stands_where_it_answers(dump: SimpleNamespace) -> None:
    """A thread may have run out of memory before, and the JVM gone on."""
    for found in ("Query failed\nCaused by: a.b.C: text", RuntimeError("Query failed\nCaused by: a.b.C: text")):
        assert str(ended_by(Writer(), dump, found)) == "query failed: a.b.C: text"
    with pytest.raises(FencedError):
        ended_by(Writer(others=True), dump, "Query failed")
