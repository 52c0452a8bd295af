from collections.abc import Mapping

import pytest

from pipeline.driver.source_stream import SourceWatch
from pipeline.errors import RefusedError


def test_a_topic_that_was_made_again_ends_the_job() -> None:
    now: dict[str, str] = {"a": "1", "b": "2"}
    watch = SourceWatch({"a": "1", "b": "2"}, lambda: now)
    watch.check()
    now["b"] = "3"
    with pytest.raises(RefusedError, match="id of topic b 2, not 3"):
        watch.check()


@pytest.mark.parametrize("found", [{}, {"a": "1"}], ids=["no answer", "one is deleted"])
def test_what_no_broker_reports_is_no_other_topic(found: Mapping[str, str]) -> None:
    SourceWatch({"a": "1", "b": "2"}, lambda: found).check()
    SourceWatch({}, lambda: {"a": "1"}).check()
