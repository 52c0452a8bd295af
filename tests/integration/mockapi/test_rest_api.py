"""The REST API and RESTBase's paths of a real server: what only the wire shows."""

import gzip
from typing import Any

import pytest

JSON = {"Content-Type": "application/json"}
PAGES = [
    {
        "wiki": "enwiki",
        "domain": "en.wikipedia.org",
        "page_id": page_id,
        "namespace_id": 0,
        "title": title,
        "revisions": [
            {"rev_id": page_id * 4096 + 1, "parent_id": 0, "timestamp": "2026-01-01T00:00:00Z", "text": text}
        ],
    }
    for page_id, title, text in ((1, "Harbour", "A ''quay''."), (2, "Port", "#REDIRECT [[Harbour]]"))
]


@pytest.fixture
def small(mock: Any) -> Any:
    """The server with two pages."""
    assert mock.ask("/__mock/state", method="PUT", headers=JSON, body={"seed": 1, "catalog": PAGES}).status == 200
    return mock


@pytest.mark.parametrize(
    ("path", "status", "length"),
    [
        ("/w/rest.php/v1/page/Harbour", 200, True),
        ("/w/rest.php/v1/page/Harbour/bare", 200, True),
        ("/w/rest.php/v1/page/Harbour/html", 200, True),
        ("/w/rest.php/v1/page/Harbour/with_html", 200, True),
        ("/w/rest.php/content/v1/revision/4097/with_html", 200, True),
        ("/w/rest.php/v1/page/harbour/html", 301, False),
        ("/w/rest.php/v1/page/Port/html", 307, False),
        ("/w/rest.php/v1/page/Nope", 404, True),
        ("/w/rest.php/v1/page/Special:X/html", 403, False),
        ("/w/rest.php/v1/page/", 400, False),
        ("/w/rest.php", 308, False),
        ("/api/rest_v1/page/html/Harbour", 200, True),
        ("/api/rest_v1/page/html/Port", 307, False),
    ],
)
def test_only_200_and_404_have_a_length(small: Any, path: str, status: int, length: bool) -> None:
    answer = small.ask(path)
    assert answer.status == status
    assert (answer["content-length"] is not None, answer["transfer-encoding"]) == (
        length,
        None if length else "chunked",
    )
    head = small.ask(path, method="HEAD")
    assert (head.status, head.body, head["etag"]) == (status, b"", answer["etag"])
    assert head["content-length"] == answer["content-length"]
    packed = small.ask(path, headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.body) == answer.body


def test_a_slash_of_a_title_is_sent_encoded(mock: Any) -> None:
    body = {"source": "x", "title": "Harbour/North", "comment": "", "token": "+\\"}
    made = mock.ask("/w/rest.php/v1/page", method="POST", headers=JSON, body=body)
    assert made.status == 201
    assert mock.ask("/w/rest.php/v1/page/Harbour%2FNorth").json["source"] == "x"
    assert mock.ask("/w/rest.php/v1/page/Harbour/North").status == 404


@pytest.mark.parametrize("tag", ["etag", "last-modified"])
def test_a_304_has_no_body_and_leaves_the_connection_usable(small: Any, tag: str) -> None:
    first = small.ask("/w/rest.php/v1/page/Harbour/html")
    condition = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}[tag]
    answer = small.ask("/w/rest.php/v1/page/Harbour/html", headers={condition: first[tag]})
    assert (answer.status, answer.body) == (304, b"")
    assert answer.header_names == ["date", "x-content-type-options", "vary", "content-type", "x-request-id"]


def test_the_same_page_has_the_same_bytes_in_another_process(mock: Any, start_mock: Any) -> None:
    other = start_mock("--seed", "1")
    for path in (
        "/w/rest.php/v1/revision/28674/html",
        "/w/rest.php/v1/revision/28674/with_html",
        "/w/rest.php/v1/revision/28674",
    ):
        one, two = mock.ask(path, headers={"X-Request-Id": "x"}), other.ask(path, headers={"X-Request-Id": "x"})
        assert (one.headers[1:], one.body) == (two.headers[1:], two.body)


def test_rules_meet_a_page_as_they_meet_its_revision(small: Any) -> None:
    small.rules({"name": "gone", "when": {"page": "Harbour"}, "do": {"missing": True}})
    assert small.ask("/w/rest.php/v1/page/Harbour/html").status == 404
    assert small.ask("/w/rest.php/v1/revision/4097").json["errorKey"] == "rest-nonexistent-revision"
    assert small.ask("/api/rest_v1/page/html/Harbour").json["title"] == "rest-nonexistent-title"
    assert small.ask("/w/rest.php/v1/page/Port?redirect=no").status == 200
    entries = small.journal("?rule=gone")
    assert [(entry["page"], entry["revision"]) for entry in entries] == [("Harbour", 4097)] * 3


def test_the_truth_of_a_large_page_is_the_plain_document(small: Any) -> None:
    small.rules({"name": "large", "do": {"body": {"size": "6MiB"}}})
    truth = small.ask("/__mock/truth/revision/4097", headers={"Accept-Encoding": "gzip"})
    page = small.ask("/w/rest.php/v1/revision/4097/html")
    assert len(truth.body) == 6 * 1024 * 1024
    assert truth.body == page.body


def test_legacy_is_a_switch_of_the_state(mock: Any) -> None:
    body = {"seed": 1, "catalog": PAGES, "restbase": "legacy"}
    assert mock.ask("/__mock/state", method="PUT", headers=JSON, body=body).json["restbase"] == "legacy"
    answer = mock.ask("/api/rest_v1/page/html/Port")
    assert (answer.status, answer["location"], answer["transfer-encoding"]) == (302, "Harbour", None)
