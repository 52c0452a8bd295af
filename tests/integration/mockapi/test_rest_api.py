"""The REST API and RESTBase's paths of a real server: what only the wire shows."""

import gzip
import re
from typing import Any

import pytest

ROOMS = ("mockapi/api", "mockapi/server", "mockapi/wiki")
JSON = {"Content-Type": "application/json"}
ENWIKI = {"wiki": "enwiki", "domain": "en.wikipedia.org", "namespace_id": 0}
FIRST = {"parent_id": 0, "timestamp": "2026-01-01T00:00:00Z"}
LEADS = "#REDIRECT [[Harbour]]"
PAGES = [
    {**ENWIKI, "page_id": 1, "title": "Harbour", "revisions": [{**FIRST, "rev_id": 4097, "text": "A ''quay''."}]},
    {
        **ENWIKI,
        "page_id": 2,
        "title": "Port",
        "revisions": [{**FIRST, "rev_id": 8193, "text": LEADS}],
    },
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
    assert (answer.status, answer["content-length"] is not None) == (status, length)
    assert answer["transfer-encoding"] == (None if length else "chunked")
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


def test_the_same_request_has_the_same_bytes_in_another_process(mock: Any, start_mock: Any) -> None:
    other, revision = start_mock("--seed", "1"), "/w/rest.php/v1/revision/28674"
    rvprop = "ids|flags|user|userid|timestamp|size|sha1|content|comment|parsedcomment|tags"
    query = f"action=query&prop=revisions|info&revids=28673|28674|40961&rvprop={rvprop}&rvslots=main&format=json"
    for path in (revision, f"{revision}/html", f"{revision}/with_html", f"/w/api.php?{query}"):
        for coding in ("identity", "gzip"):
            headers = {"X-Request-Id": "x", "Accept-Encoding": coding, "Host": "en.wikipedia.org"}
            one, two = (process.ask(path, headers=headers) for process in (mock, other))
            assert (one.status, one.headers[1:], one.body) == (200, two.headers[1:], two.body)


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


def test_gzip_has_the_length_of_the_compressed_bytes(mock: Any) -> None:
    plain, packed = mock.page(28674), mock.page(28674, Accept_Encoding="gzip")
    assert gzip.decompress(packed.body) == plain.body
    assert packed["content-length"] == str(len(packed.body))
    assert len(packed.body) < len(plain.body)
    entry = mock.journal()[-1]
    assert (entry["wire_bytes"], entry["real_bytes"]) == (len(packed.body), len(plain.body))
    assert (entry["content_length"], entry["content_encoding"]) == (len(packed.body), "gzip")


def test_a_request_id_is_sent_back_or_made(mock: Any) -> None:
    assert mock.page(28674, X_Request_Id="event-7-latest")["x-request-id"] == "event-7-latest"
    ids = {mock.page(28674)["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{24}", request_id) for request_id in ids)
