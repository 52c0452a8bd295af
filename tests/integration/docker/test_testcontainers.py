"""The testcontainers stack through the pytest plugin, from a suite that is not the kit's own."""

import pytest

from tests.integration.cli_run import REPOSITORY
from tests.integration.docker.conftest import Docker
from tests.integration.docker.engine import TestEngine

ROOMS = ("devkit/docker", "devkit/pytest", "devkit/stack")
SUITE = """
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic


def test_a_message_passes(kafka):
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    admin.create_topics([NewTopic("mine", 1, 1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap)
    producer.send("mine", b"hello").get(30)
    producer.close()
    consumer = KafkaConsumer("mine", bootstrap_servers=kafka.bootstrap, auto_offset_reset="earliest")
    assert next(consumer).value == b"hello"
    consumer.close()


def test_an_object_is_kept(object_store):
    client = object_store.client()
    client.put_object(Bucket="checkpoints", Key="k", Body=b"v")
    assert client.get_object(Bucket="checkpoints", Key="k")["Body"].read() == b"v"


def test_the_mock_can_be_controlled(mock_api, stack):
    mock_api.populate(seed=3, catalog=[], rules=[])
    assert mock_api.counts().requests == 0
    assert all(place.container for place in stack.places())
"""


def test_a_suite_gets_its_parts_in_containers(
    pytester: pytest.Pytester, docker_engine: TestEngine, docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    before = docker("ps", "-aq")
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("-p", "devkit.pytest", "--devkit-stack", "testcontainers", "-q")
    result.assert_outcomes(passed=3)
    assert docker("ps", "-aq") == before
