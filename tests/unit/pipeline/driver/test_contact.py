from collections.abc import Callable
from typing import Any

import pytest

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.query import warn_without_contact


@pytest.mark.parametrize(
    ("mediawiki", "warned"),
    [
        ({"endpoint": "http://mw-api-int:4680"}, ["http://mw-api-int:4680"]),
        ({"endpoint": "http://mw-api-int:4680", "contact": "ops@example.org"}, []),
        ({"endpoint": "http://127.0.0.1:8090"}, []),
    ],
)
def test_a_job_that_asks_wikis_of_others_without_a_contact_says_so(
    make_config: Callable[..., PipelineConfig],
    monkeypatch: pytest.MonkeyPatch,
    mediawiki: dict[str, str],
    warned: list[str],
) -> None:
    said: list[Any] = []
    monkeypatch.setattr(log, "emit", said.append)
    warn_without_contact(make_config(mediawiki=mediawiki))
    assert [one.endpoint for one in said] == warned
    assert all("User-Agent policy" in one.hint for one in said)
