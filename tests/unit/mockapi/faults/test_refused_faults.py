"""What a fault cannot be. More of it is in tests/unit/golden/mock_rules.txt."""

from typing import Any

import pytest

from tests.unit.mockapi.faults.planned import problem


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"body": {}}, "do.body: body without effect"),
        ({"body": {"size": 1, "bomb": 1}}, "both size and bomb"),
        ({"body": {"incompressible": 1, "bomb": 1}}, "both bomb and incompressible"),
        ({"body": {"size": "2GiB"}}, "do.body.size.fixed: must be less than or equal to 1073741824"),
        ({"body": {"bomb": -1}}, "do.body.bomb: not a size (got -1)"),
        ({"body": {"size": {"p50": 1}}}, "one of: a size, p50 with p99 and an optional cap, uniform"),
        ({"body": {"size": {"p50": 9, "p99": 3}}}, "swap them?"),
        ({"body": {"size": {"p50": 9, "p99": 30, "cap": 3}}}, "cap is below p50"),
        ({"body": {"size": {"fixed": 9, "cap": 30}}}, "cap without p50 and p99"),
        ({"body": {"size": {"uniform": {"from": 9, "to": 3}}}}, "from is above to"),
        ({"body": {"encoding": "lzma"}}, "or 'identity' (got 'lzma')"),
        ({"body": {"size": 9, "force": True}}, "force without a coding"),
        ({"body": {"encoding": "identity", "force": True}}, "force without a coding"),
        ({"body": {"encoding": "gzip", "changed_bytes": 999}}, "changed_bytes without size"),
        (
            {"body": {"size": 9000, "changed_bytes": 9000}},
            "changed_bytes 9000 does not fit into a document of 9000 bytes",
        ),
        ({"content_length": {}}, "not a wrong length"),
        ({"content_length": {"off_by": 0}}, "not a wrong length"),
        ({"content_length": {"says": "absent", "off_by": 1}}, "not a wrong length"),
        ({"content_length": "compressed", "body": {"encoding": "br"}}, "`compressed` means that the body is plain"),
        ({"content_length": "absent", "malformed_chunk": {}}, "a chunked body has no Content-Length"),
        ({"invalid_utf8": 0}, "greater than or equal to 1"),
        ({"invalid_utf8": {"bytes": 1, "at": "end"}}, "not a place in an answer"),
        ({"invalid_utf8": 1, "body": {"encoding": "br"}}, "a broken document goes out without a coding"),
        ({"bandwidth": 0}, "greater than or equal to 1"),
        ({"dribble": {"bytes": 0, "every": "1s"}}, "greater than or equal to 1"),
        ({"dribble": {"bytes": 1, "every": "0s"}}, "must be above 0"),
        ({"dribble": {"bytes": 1, "every": "1s"}, "bandwidth": "1KiB"}, "a body has one pace"),
        ({"garbage": {"bytes": 0}}, "greater than or equal to 1"),
        ({"garbage": {"bytes": "2MiB"}}, "less than or equal to 1048576"),
        ({"keep_alive": 0}, "greater than or equal to 1"),
        ({"close": {"after": 5}}, "it needs at: in headers, or at: in body"),
        ({"reset": {"after": 5}}, "it needs at: in headers, or at: in body"),
        ({"close": {}, "truncate": "50%"}, "an answer ends in one way"),
        ({"hang": True, "status": 503}, "hang and status in one rule"),
        ({"hang": True, "latency": "1s"}, "hang and latency in one rule"),
        ({"hang": True, "reset": {}}, "hang and reset in one rule"),
        ({"refuse": "5s", "status": 503}, "refuse and status in one rule"),
        ({"status": {"code": 503, "headers": {"Content-Length": "1"}}}, "the fault content_length"),
        ({"status": {"code": 503, "headers": {"content-encoding": "br"}}}, "the fault content_encoding"),
        ({"status": {"code": 503, "headers": {"X-A": "1", "x-a": "2"}}}, "two headers x-a"),
        (
            {"status": {"code": 503, "headers": {"Retry-After": "1"}, "retry_after": "5s"}},
            "retry_after and a header Retry-After",
        ),
        ({"error": "ratelimit"}, "did you mean 'ratelimited'?"),
        ({"error": "internal_api_error_"}, "did you mean 'internal_api_error_DBQueryError'?"),
        ({"error": "internal_api_error_a b"}, "no error 'internal_api_error_a b' of MediaWiki"),
        ({"error": "missingtitle"}, "there are: ratelimited, readonly, maxlag"),
        ({"error": "readonly", "status": 503}, "a request has one answer"),
    ],
    ids=str,
)
def test_a_fault_that_cannot_be_is_refused_with_a_reason(do: dict[str, Any], message: str) -> None:
    assert message in problem(do)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"hang": False}, "do.hang: "),
        ({"charset": "a; b"}, "do.charset.says: "),
        ({"content_encoding": "gz\r\nx: y"}, "do.content_encoding.says: "),
        ({"content_length": "long"}, "do.content_length.says: must be 'compressed', "),
        ({"truncate": {}}, "do.truncate.after: is missing"),
        ({"close": "in the middle"}, "do.close.at: must be 'before headers', 'in"),
        ({"reset": "in the middle"}, "do.reset.at: must be 'before headers', 'in"),
        ({"malformed_chunk": "bad"}, "do.malformed_chunk.how: must be 'not hex', 'negative'"),
        ({"proxy_page": 500}, "do.proxy_page.code: "),
        ({"proxy_page": {"body": "xml"}}, "do.proxy_page.body: "),
        ({"proxy_page": 200, "status": 404}, "do: status and proxy_page in one rule"),
        ({"status": {"code": 503, "headers": {}}}, "do.status.headers"),
        ({"status": {"code": 503, "headers": {"X Y": "1"}}}, "do.status.headers.X Y"),
        ({"status": {"code": 503, "headers": {"X-A": "a\r\nX-B: b"}}}, "do.status.headers.X-A"),
    ],
    ids=str,
)
def test_a_refusal_begins_with_the_place(do: dict[str, Any], message: str) -> None:
    assert problem(do).startswith(message)
