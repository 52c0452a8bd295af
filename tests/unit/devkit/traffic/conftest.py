import pytest

from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import Traffic


@pytest.fixture(scope="session")
def mixed() -> Traffic:
    """1,200 events with many of every kind, on two wikis."""
    spec = TrafficSpec.model_validate(
        {
            "seed": 11,
            "rate": "20/s",
            "for": "1m",
            "population": 40,
            "wikis": {"enwiki": "en.wikipedia.org", "commonswiki": "commons.wikimedia.org"},
            "mix": {"create": 0.15, "move": 0.12, "delete": 0.1, "undelete": 0.08, "visibility_change": 0.15}
            | {"canary": 0.03, "not_wikitext": 0.08, "not_json": 0.03, "not_schema": 0.03},
        }
    )
    return generate(spec)
