import gzip
import re
from typing import Any

import pytest

REVISION = 28674
DOCUMENT_HEADERS = [
    "x-content-type-options",
    "content-type",
    "content-language",
    "content-revision-id",
    "cache-control",
    "last-modified",
    "etag",
    "vary",
]


def test_the_headers_are_mediawikis_in_their_order(mock: Any) -> None:
    answer = mock.page(REVISION, X_Request_Id="event-7-latest")
    assert answer.status == 200
    assert answer.header_names == ["date", *DOCUMENT_HEADERS, "content-length", "x-request-id"]
    assert answer["content-type"] == (
        'text/html; charset=utf-8; profile="https://www.mediawiki.org/wiki/Specs/HTML/2.8.0"'
    )
    assert answer["content-revision-id"] == str(REVISION)
    assert (answer["content-language"], answer["cache-control"], answer["vary"]) == (
        "en",
        "max-age=5",
        "x-restbase-compat",
    )
    assert answer["x-request-id"] == "event-7-latest"
    assert re.fullmatch(rf'"{REVISION}/[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}/view/html"', answer["etag"])
    assert re.fullmatch(r"\w{3}, \d\d \w{3} 2026 \d\d:\d\d:\d\d GMT", answer["last-modified"])
    assert answer["content-length"] == str(len(answer.body))
    assert answer.body.startswith(b"<!DOCTYPE html>\n<html ")


def test_gzip_has_the_length_of_the_compressed_bytes(mock: Any) -> None:
    plain, packed = mock.page(REVISION), mock.page(REVISION, Accept_Encoding="gzip")
    assert packed.header_names == ["date", *DOCUMENT_HEADERS, "content-encoding", "content-length", "x-request-id"]
    assert packed["content-length"] == str(len(packed.body))
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body)
    entry = mock.journal()[-1]
    assert (entry["wire_bytes"], entry["real_bytes"]) == (len(packed.body), len(plain.body))
    assert (entry["content_length"], entry["content_encoding"]) == (len(packed.body), "gzip")


def test_head_is_get_without_its_body(mock: Any) -> None:
    got = mock.page(REVISION, X_Request_Id="x")
    head = mock.ask(f"/w/rest.php/v1/revision/{REVISION}/html", method="HEAD", headers={"X-Request-Id": "x"})
    assert head.body == b""
    assert head.headers[1:] == got.headers[1:]


def test_the_module_path_serves_the_same(mock: Any) -> None:
    assert mock.ask(f"/w/rest.php/content/v1/revision/{REVISION}/html").body == mock.page(REVISION).body


def test_accept_language_is_in_vary_and_etag(mock: Any) -> None:
    plain, german = mock.page(REVISION), mock.page(REVISION, Accept_Language="de-AT, en")
    assert german["vary"] == "Accept-Language, x-restbase-compat"
    assert german["etag"] == plain["etag"][:-1] + '+lang:de-AT"'
    assert german.body == plain.body


def test_a_request_id_is_made_when_none_comes(mock: Any) -> None:
    ids = {mock.page(REVISION)["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{24}", request_id) for request_id in ids)


@pytest.mark.parametrize("revision", ["99999999", "0", "-5", str(2**63 - 1)])
def test_an_unknown_revision_is_404(mock: Any, revision: str) -> None:
    answer = mock.page(revision, X_Request_Id="x")
    assert answer.status == 404
    assert answer.header_names == [
        "date",
        "x-content-type-options",
        "content-type",
        "vary",
        "content-length",
        "x-request-id",
    ]
    assert answer.body.decode() == (
        '{"errorKey":"rest-nonexistent-revision","messageTranslations":'
        f'{{"en":"The specified revision ({revision}) does not exist"}},"httpCode":404,"httpReason":"Not Found"}}'
    )


@pytest.mark.parametrize("revision", ["abc", "1.5", str(2**63), "1e3"])
def test_what_is_no_integer_is_400_without_a_length(mock: Any, revision: str) -> None:
    answer = mock.page(revision)
    assert answer.status == 400
    assert answer["content-length"] is None
    assert answer.body.decode() == (
        f'{{"error":"parameter-validation-failed","name":"id","value":"{revision}","failureCode":"badinteger",'
        '"failureData":null,"errorKey":"badinteger","messageTranslations":'
        f'{{"en":"Invalid value \\"{revision}\\" for integer parameter \\"id\\"."}},"httpCode":400,'
        '"httpReason":"Bad Request"}'
    )


def test_another_method_is_405(mock: Any) -> None:
    answer = mock.ask(f"/w/rest.php/v1/revision/{REVISION}/html", method="POST", body={})
    assert (answer.status, answer["allow"], answer["content-length"]) == (405, "HEAD, GET", None)
    assert answer.body.decode() == (
        '{"messageTranslations":{"en":"The request method (POST) was not one of the allowed methods for this path '
        '(HEAD, GET)"},"httpCode":405,"httpReason":"Method Not Allowed"}'
    )
    options = mock.ask(f"/w/rest.php/v1/revision/{REVISION}/html", method="OPTIONS")
    assert (options.status, options["access-control-allow-methods"], options.body) == (204, "HEAD, GET", b"")


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("/w/rest.php/v1/revision", "/v1/revision"),
        ("/w/rest.php/v1/revision/28674/html/", "/v1/revision/28674/html/"),
        ("/w/rest.php/v2/revision/28674/html", "/v2/revision/28674/html"),
        ("/wiki/Main_Page", "/wiki/Main_Page"),
    ],
)
def test_a_path_without_a_handler_is_404(mock: Any, path: str, relative: str) -> None:
    answer = mock.ask(path)
    assert (answer.status, answer.json["errorKey"]) == (404, "rest-no-match")
    assert f"({relative})" in answer.json["messageTranslations"]["en"]


def test_the_host_chooses_the_wiki(mock: Any) -> None:
    def page(wiki: str, domain: str) -> dict[str, Any]:
        revision = {"rev_id": 4097, "parent_id": 0, "timestamp": "2026-01-01T00:00:00Z"}
        return {
            "wiki": wiki,
            "domain": domain,
            "page_id": 1,
            "namespace_id": 0,
            "title": "A",
            "revisions": [revision],
        }

    catalog = [page("enwiki", "en.wikipedia.org"), page("dewiki", "de.wikipedia.org")]
    mock.ask("/__mock/state", method="PUT", body={"seed": 1, "catalog": catalog})
    english, german = (mock.page(4097, Host=f"{code}.wikipedia.org:80") for code in ("en", "de"))
    assert (english["content-language"], german["content-language"]) == ("en", "de")
    assert english.body != german.body
    assert mock.page(4097).status == 404
    assert [entry["wiki"] for entry in mock.journal()] == ["enwiki", "dewiki", None]
