from collections.abc import Callable

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.start_warnings import start_warnings


@pytest.mark.parametrize(
    ("mediawiki", "warned"),
    [
        ({"endpoint": "http://mw-api-int:4680"}, ["http://mw-api-int:4680"]),
        ({"endpoint": "http://mw-api-int:4680", "contact": "ops@example.org"}, []),
        ({"endpoint": "http://127.0.0.1:8090"}, []),
    ],
)
def test_a_job_that_asks_wikis_of_others_without_a_contact_says_so(
    make_config: Callable[..., PipelineConfig], mediawiki: dict[str, str], warned: list[str]
) -> None:
    warnings = list(start_warnings(make_config(mediawiki=mediawiki)))
    assert [warning.endpoint for warning in warnings] == warned
    assert all("User-Agent policy" in warning.hint for warning in warnings)
