from pathlib import Path

import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.stack.addresses import VARIABLES, Addresses, read_addresses

GOOD = "kafka: a.example:9092,b.example:9092\ns3_endpoint: http://s3:9000\nmock_api: http://mock:8080\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "staging.yaml"
    path.write_text(GOOD)
    return path


def test_from_a_file_and_credentials_from_the_environment(file: Path) -> None:
    addresses = read_addresses(file, {"DEVKIT_S3_SECRET_KEY": "hush", "DEVKIT_KAFKA": "other:1"})
    assert addresses.kafka == "a.example:9092,b.example:9092", "the environment's is not for a file"
    assert (addresses.s3_endpoint, addresses.mock_api) == ("http://s3:9000", "http://mock:8080")
    assert not addresses.may_recreate_topics
    assert (addresses.access_key, addresses.secret_key, addresses.s3_region) == ("devkit-local", "hush", "us-east-1")


def test_from_the_environment() -> None:
    environment = {
        "DEVKIT_KAFKA": "k:9092",
        "DEVKIT_S3_ENDPOINT": "https://s3",
        "DEVKIT_S3_REGION": "eu-1",
        "DEVKIT_MOCK_API": "http://m:1",
        "DEVKIT_TRIPLE_STORE_QUERY": "http://t:1/ds/query",
        "DEVKIT_TRIPLE_STORE_UPDATE": "http://t:1/ds/update",
        "DEVKIT_MAY_RECREATE_TOPICS": "true",
        "DEVKIT_MAY_CLEAR_TRIPLE_STORE": "true",
        "DEVKIT_S3_ACCESS_KEY": "me",
        "DEVKIT_S3_SECRET_KEY": "hush",
    }
    assert set(VARIABLES.values()) < set(environment)
    addresses = read_addresses(None, environment)
    assert addresses.may_recreate_topics
    assert addresses.may_clear_triple_store
    assert addresses.triple_store_update == "http://t:1/ds/update"
    assert (addresses.access_key, addresses.secret_key, addresses.s3_region) == ("me", "hush", "eu-1")
    assert "hush" not in repr(addresses) + addresses.model_dump_json()


def test_every_problem_of_a_file_has_its_place(file: Path) -> None:
    file.write_text("kafka: a.example\nsecret_key: hush\nmock: http://m:1\ns3_endpoint: http://s3:9000\n")
    with pytest.raises(InvalidFileError) as caught:
        read_addresses(file, {})
    assert [(problem.line, problem.text.split(":")[0].split()[0]) for problem in caught.value.problems] == [
        (1, "kafka"),
        (2, "secret_key"),
        (3, "mock"),
    ]
    text = str(caught.value)
    assert "kafka: not understood (got 'a.example'); write host:port" in text
    assert "set the variable DEVKIT_S3_SECRET_KEY" in text
    assert "hush" not in text


def test_a_variable_is_named_with_what_it_wants() -> None:
    with pytest.raises(UsageError) as caught:
        read_addresses(None, {"DEVKIT_KAFKA": "http://k:1", "DEVKIT_MOCK_API": "http://m:1"})
    assert str(caught.value) == (
        "the addresses of the external stack:\n"
        "DEVKIT_KAFKA: not understood (got 'http://k:1'); write host:port, or several with commas\n"
        "DEVKIT_S3_ENDPOINT: is missing"
    )
    assert "--addresses" in (caught.value.hint or "")


@pytest.mark.parametrize("kafka", ["", "k", "k:", ":1", "k:1,", "k:1 ,l:2", "http://k:1"])
def test_what_is_no_address_of_a_broker(kafka: str) -> None:
    with pytest.raises(UsageError, match="DEVKIT_KAFKA"):
        read_addresses(None, {"DEVKIT_KAFKA": kafka, "DEVKIT_S3_ENDPOINT": "http://s", "DEVKIT_MOCK_API": "http://m"})


def test_each_variable_is_a_key() -> None:
    assert set(VARIABLES) == set(Addresses.model_fields) - {"access_key", "secret_key"}
