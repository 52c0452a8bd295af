"""The faults that put another answer or another body in the place of MediaWiki's."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.status import reply
from mockapi.faults.body import coding
from mockapi.faults.error import CODES
from mockapi.plan import StatusAnswer
from mockapi.wiki.pages.block import Block
from mockapi.wiki.pages.fillers import Bomb
from tests.unit.mockapi.faults.planned import plan

GIB = 1 << 30


@pytest.mark.parametrize("code", [*CODES, "internal_api_error_DBQueryError"])
def test_the_last_error_code_is_that_of_the_plan(code: str) -> None:
    assert plan({"error": "readonly"}, {"error": code}).error == code


def test_headers_are_part_of_the_answer() -> None:
    made = plan({"status": {"code": 503, "headers": {"X-Cache": "miss", "Set-Cookie": "a=1; Path=/"}}}).status
    assert made == StatusAnswer(503, headers=(("X-Cache", "miss"), ("Set-Cookie", "a=1; Path=/")))


def proxy_page(page: object) -> StatusAnswer:
    made = plan({"proxy_page": page}).status
    assert made is not None
    return made


@pytest.mark.parametrize("code", [200, 401, 403, 404])
def test_a_page_of_a_proxy_has_none_of_mediawikis_words(code: int) -> None:
    answer = proxy_page(code)
    made = reply(answer, "id")
    headers = dict(made.headers)
    assert (made.status, headers[b"content-type"]) == (code, b"text/html; charset=utf-8")
    assert b"content-revision-id" not in headers
    assert "maintenance" in str(answer.body)
    assert "errorKey" not in str(answer.body)


def test_a_proxy_may_answer_with_an_error_in_json_or_with_nothing() -> None:
    assert proxy_page({"code": 404, "body": "json"}).content_type == "application/json"
    assert proxy_page({"body": "empty"}) == StatusAnswer(200, "", content_type="text/html; charset=utf-8")


def accepting(*codings: str) -> Callable[[str], bool]:
    return lambda asked: asked in codings


def shape_of(**body: Any) -> Block | Bomb | None:
    return plan({"body": body}).document


def coding_of(*accepted: str, **body: Any) -> str | None:
    return coding(plan({"body": body}) if body else plan(), accepting(*accepted))


def test_only_a_size_or_a_bomb_replaces_the_document() -> None:
    assert plan().document is None
    assert shape_of(encoding="gzip") is None
    assert shape_of(size="300KiB") == Block(307_200, 65_536)
    assert shape_of(size="300KiB", changed_bytes="1KiB") == Block(307_200, 1_024)
    assert shape_of(bomb="1GiB", encoding="br") == Bomb(GIB)


@pytest.mark.parametrize("size", [0, 1, 100, "1GiB"])
def test_any_size_up_to_a_gibibyte(size: object) -> None:
    made = shape_of(size=size)
    assert isinstance(made, Block)
    assert made.size_bytes == (GIB if size == "1GiB" else size)
    assert made.changed_bytes <= made.size_bytes


@given(st.integers(0, 2**64), st.text(max_size=9), st.integers(1, 9))
def test_a_drawn_size_is_that_of_the_revision_whatever_the_attempt(seed: int, key: str, attempt: int) -> None:
    body = {"size": {"p50": "20KiB", "p99": "1MiB", "cap": "2MiB"}}
    made = plan({"body": body}, seed=seed, key=key, attempt=attempt)
    drawn = made.document
    assert isinstance(drawn, Block)
    assert 0 < drawn.size_bytes <= 2 << 20
    assert made.draws == {"size_bytes": drawn.size_bytes}
    assert drawn == plan({"body": body}, seed=seed, key=key).document


def test_sizes_are_spread_as_the_rule_says() -> None:
    def sizes(size: dict[str, object]) -> list[int]:
        drawn = [plan({"body": {"size": size}}, key=str(n)).document for n in range(2_000)]
        return sorted(made.size_bytes for made in drawn if isinstance(made, Block))

    log_normal = sizes({"p50": "20KiB", "p99": "1MiB", "cap": "20MiB"})
    assert log_normal[1_000] == pytest.approx(20 << 10, rel=0.15)
    assert log_normal[1_980] == pytest.approx(1 << 20, rel=0.4)
    even = sizes({"uniform": {"from": 10, "to": 19}})
    assert set(even) == set(range(10, 20))
    assert even[1_000] in {14, 15}


@pytest.mark.parametrize(
    ("body", "accepted", "sent"),
    [
        ({}, ("gzip", "br"), "gzip"),
        ({}, ("br",), None),
        ({"encoding": "br"}, ("gzip", "br"), "br"),
        ({"encoding": "br"}, ("gzip",), "gzip"),
        ({"encoding": "br"}, (), None),
        ({"encoding": "zstd", "force": True}, (), "zstd"),
        ({"encoding": "deflate"}, ("deflate",), "deflate"),
        ({"encoding": "identity"}, ("gzip",), None),
        ({"size": 9000}, ("gzip",), "gzip"),
    ],
)
def test_a_coding_is_used_for_who_accepts_it(body: dict[str, Any], accepted: tuple[str, ...], sent: str | None) -> None:
    assert coding_of(*accepted, **body) == sent


@pytest.mark.parametrize("fault", [{"invalid_utf8": 1}, {"content_length": "compressed"}])
def test_some_faults_need_the_plain_document_whatever_another_rule_says(fault: dict[str, Any]) -> None:
    made = plan(fault, {"body": {"encoding": "br", "force": True}})
    assert coding(made, accepting("br", "gzip")) is None
