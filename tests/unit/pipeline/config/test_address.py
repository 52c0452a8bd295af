import pytest

from pipeline.config.section import is_loopback, require_contact, require_servers, require_something, require_url


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


@pytest.mark.parametrize("value", ["ops@example.org", "https://wikitech.wikimedia.org/wiki/A_b", "http://a:80/b?c=d"])
def test_who_can_be_reached(value: str) -> None:
    assert require_contact(value) == value


@pytest.mark.parametrize(
    "value",
    [
        "",
        "the team",
        "ops@",
        "ops@host",
        "mailto:a",
        "https://",
        "a@b.c)\r\nX: y",
        "a@b.c; d",
        "é@b.c",
        "https://a/b\n",
    ],
)
def test_who_cannot_be_reached_or_is_no_part_of_a_header(value: str) -> None:
    with pytest.raises(ValueError, match="mail address"):
        require_contact(value)


@pytest.mark.parametrize(
    ("endpoint", "is_here"),
    [
        ("http://127.0.0.1:80", True),
        ("http://[::1]:80", True),
        ("http://localhost:1", True),
        ("https://en.wikipedia.org", False),
        ("http://mw-api-int:4680", False),
        ("http://127.0.0.1.example.org", False),
    ],
)
def test_what_is_on_this_machine(endpoint: str, is_here: bool) -> None:
    assert is_loopback(endpoint) == is_here
