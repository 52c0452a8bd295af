from collections.abc import Callable

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.start_warnings import start_warnings
from pipeline.events import BrokersRepeated, ContactMissing


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
    assert [warning.endpoint for warning in warnings if isinstance(warning, ContactMissing)] == warned
    assert all("User-Agent policy" in warning.hint for warning in warnings)


@pytest.mark.parametrize(
    ("servers", "repeated"),
    [
        ("kafka-1:9092,kafka-2:9092", ()),
        ("kafka-1:9092,kafka-1:9093", ()),
        ("kafka-1:9092,kafka-1:9092", ("kafka-1:9092",)),
        ("kafka-1:9092, Kafka-1:9092", ("kafka-1:9092",)),
        ("PLAINTEXT://kafka-1:9092,kafka-1:9092", ("kafka-1:9092",)),
        ("b:1,a:1,b:1,A:1,a:1,c:1", ("a:1", "b:1")),
        ("[::1]:9092,[::1]:9092", ("[::1]:9092",)),
    ],
)
@pytest.mark.parametrize("section", ["source", "sink"])
def test_a_broker_that_is_listed_twice_is_warned_of(
    make_config: Callable[..., PipelineConfig], section: str, servers: str, repeated: tuple[str, ...]
) -> None:
    warnings = list(start_warnings(make_config(**{section: {"bootstrap_servers": servers}})))
    setting = f"{section}.bootstrap_servers"
    assert [(warning.setting, warning.brokers) for warning in warnings if isinstance(warning, BrokersRepeated)] == (
        [(setting, repeated)] if repeated else []
    )
    assert all(warning.hint.startswith(f"{setting} has {', '.join(repeated)} more than once") for warning in warnings)
