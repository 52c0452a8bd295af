"""A pytest plugin, `-p mockapi.pytest`: the mock alone, for suites that need neither Kafka nor Spark.

def test_retries(mock_api):
with mock_api.rules({"name": "busy", "do": {"status": 503}, "times": 2}):
my_client.fetch(mock_api.endpoint)
assert len(mock_api.requests(status="503")) == 2
"""

from mockapi.pytest.fixtures import mock_api, session_mock_api

__all__ = ["mock_api", "session_mock_api"]
