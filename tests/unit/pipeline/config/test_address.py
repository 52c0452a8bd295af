import pytest

from pipeline.config.address import require_servers, require_something, require_url


@pytest.mark.parametrize(
    "value", ["localhost:9092", "a:1,b.example:65535", "a:1, b:2", "[::1]:9092", "PLAINTEXT://a:1", "127.0.0.1:1"]
)
def test_brokers_as_kafka_takes_them(value: str) -> None:
    assert require_servers(value) == value


@pytest.mark.parametrize("value", ["", " ", "a", "a:", ":1", "a:abc", "a:0", "a:65536", "a:1,", "a:1,,b:2", "a:1 b:2"])
def test_what_is_no_brokers_address(value: str) -> None:
    with pytest.raises(ValueError, match="is no broker's address, write host:9092"):
        require_servers(value)


@pytest.mark.parametrize("value", ["http://a", "https://a.example:8443", "http://[::1]:80"])
def test_a_url_that_can_be_asked(value: str) -> None:
    assert require_url(value) == value


@pytest.mark.parametrize("value", ["http://a:99999", "http://a:b", "http://a:0", "http://:80", "http://[x"])
def test_a_url_that_nobody_can_ask(value: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        require_url(value)


@pytest.mark.parametrize("value", ["", " \t"])
def test_nothing_is_refused(value: str) -> None:
    assert require_something("a b") == "a b"
    with pytest.raises(ValueError, match="empty"):
        require_something(value)
