from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JNetworkError

from pipeline.deferral.fold import FencedError
from pipeline.driver.process_exit import query_failure
from pipeline.errors import PipelineError

FULL, LIVES = (SimpleNamespace(is_out_of_memory=lambda full=full: full) for full in (True, False))
GONE = [Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError(111, "Connection refused")]


class Writer:
    def __init__(self, failed: PipelineError | None = None, *, others: bool = False) -> None:
        self.failed, self.others = failed, others

    def check(self) -> None:
        if self.failed is not None:
            raise self.failed

    def check_ownership(self) -> None:
        if self.others:
            raise FencedError("another start has taken the checkpoint over")


@pytest.mark.parametrize("found", [*GONE, "Query failed\nCaused by: a.b.C: SparkContext was shut down"])
def test_a_jvm_that_ran_out_of_memory_is_said_to_have(found: Exception | str) -> None:
    """A batch that could not ask it any more has failed as well, and says less."""
    failed = PipelineError("batch 3 failed: [Errno 111] Connection refused")
    for writer in (Writer(), Writer(failed)):
        assert str(query_failure(writer, FULL, found)).startswith("query failed: java.lang.OutOfMemoryError: the JVM")


@pytest.mark.parametrize("error", GONE)
def test_one_that_is_gone_for_another_reason_is_said_to_be(error: Exception) -> None:
    assert f"does not answer ({type(error).__name__})" in str(query_failure(Writer(), LIVES, error))
    with pytest.raises(PipelineError, match=r"^batch 3 failed"):
        query_failure(Writer(PipelineError("batch 3 failed")), LIVES, error)


def test_what_spark_says_stands_where_it_answers() -> None:
    for found in ("Query failed\nCaused by: a.b.C: text", RuntimeError("Query failed\nCaused by: a.b.C: text")):
        assert str(query_failure(Writer(), LIVES, found)) == "query failed: a.b.C: text"
    with pytest.raises(FencedError):
        query_failure(Writer(others=True), LIVES, "Query failed")
