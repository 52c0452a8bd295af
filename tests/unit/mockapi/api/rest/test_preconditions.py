from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.rest.preconditions import Validators, decide, http_date
from mockapi.server.request import Request

AT = datetime(2026, 3, 4, 5, 6, 7, 250_000, tzinfo=UTC)
SAME, BEFORE, AFTER = (f"Wed, 04 Mar 2026 05:06:0{second} GMT" for second in (7, 6, 8))
THERE = Validators('"4098/x/view/html"', AT, exists=True)
NOTHING = Validators(None, None, exists=False)
TAGS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters='"'))


def decided(validators: Validators, *, method: str = "GET", **headers: str) -> int | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return decide(Request(method, "/", "/", "", named, ""), validators)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"if_none_match": '"4098/x/view/html"'}, 304),
        ({"if_none_match": 'W/"4098/x/view/html"'}, 304),
        ({"if_none_match": '"a", "4098/x/view/html"'}, 304),
        ({"if_none_match": "*"}, 304),
        ({"if_none_match": '"a"'}, None),
        ({"if_none_match": '"4098/x/view/html", broken'}, None),
        ({"if_none_match": '"4098/x/view/html",'}, None),
        ({"if_none_match": ""}, None),
        ({"if_modified_since": SAME}, 304),
        ({"if_modified_since": BEFORE}, None),
        ({"if_modified_since": "2037-01-01"}, None),
        ({"if_modified_since": AFTER, "if_none_match": '"a"'}, None),
        ({"if_match": '"4098/x/view/html"'}, None),
        ({"if_match": 'W/"4098/x/view/html"'}, None),
        ({"if_match": "*"}, None),
        ({"if_match": '"a"'}, 412),
        ({"if_match": ""}, 412),
        ({"if_unmodified_since": SAME}, None),
        ({"if_unmodified_since": BEFORE}, 412),
        ({"if_unmodified_since": "yesterday"}, None),
        ({"if_match": "*", "if_unmodified_since": BEFORE}, None),
        ({"if_match": "*", "if_none_match": "*"}, 304),
    ],
)
def test_of_what_is_there(headers: dict[str, str], status: int | None) -> None:
    assert decided(THERE, **headers) == status


@pytest.mark.parametrize(
    ("validators", "method", "headers", "status"),
    [
        (NOTHING, "GET", {"if_match": "*"}, 412),
        (NOTHING, "GET", {"if_none_match": "*"}, None),
        (NOTHING, "GET", {"if_unmodified_since": BEFORE}, 412),
        (NOTHING, "GET", {"if_modified_since": AFTER}, None),
        (THERE, "PUT", {"if_none_match": "*"}, 412),
        (THERE, "PUT", {"if_modified_since": AFTER}, None),
    ],
)
def test_of_what_is_not_there_and_of_a_write(
    validators: Validators, method: str, headers: dict[str, str], status: int | None
) -> None:
    assert decided(validators, method=method, **headers) == status


FORMS = ["Wed, 04 Mar 2026 05:06:07 GMT", "Wednesday, 04-Mar-26 05:06:07 GMT", "Wed Mar  4 05:06:07 2026"]
NO_DATES = ["", "Wed, 4 Mar 2026 05:06:07 GMT", "Wed, 04 Mar 2026 05:06:07 +0000", "Wed, 99 Mar 2026 05:06:07 GMT"]


@pytest.mark.parametrize(
    ("text", "at"), [*((text, AT.replace(microsecond=0)) for text in FORMS), *((text, None) for text in NO_DATES)]
)
def test_a_date_has_three_forms(text: str, at: datetime | None) -> None:
    assert http_date(text) == at


@given(st.lists(TAGS, min_size=1, max_size=5), st.booleans())
def test_a_tag_is_found_wherever_it_stands(tags: list[str], weak: bool) -> None:
    header = ", ".join(f'{"W/" if weak else ""}"{tag}"' for tag in tags)
    for tag in tags:
        assert decided(Validators(f'"{tag}"', None, exists=True), if_none_match=header) == 304


@given(st.text())
def test_any_header_is_decided(text: str) -> None:
    for name in ("if_match", "if_none_match", "if_modified_since", "if_unmodified_since"):
        assert decided(THERE, **{name: text}) in {None, 304, 412}


@given(st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)), st.integers(-1, 1))
def test_a_date_is_compared_by_the_second(at: datetime, seconds: int) -> None:
    stored = Validators('"a"', at.replace(tzinfo=UTC), exists=True)
    asked = at.replace(microsecond=0) + timedelta(seconds=seconds)
    header = f"{asked:%a, %d %b %Y %H:%M:%S} GMT"
    assert decided(stored, if_modified_since=header) == (304 if seconds >= 0 else None)
    assert decided(stored, if_unmodified_since=header) == (None if seconds >= 0 else 412)


def test_a_bad_parameter_is_refused_before_a_condition_is_decided(wiki: Any) -> None:
    assert wiki.rest("page/Old_harbour/html?flavor=x", headers={"if-none-match": "*"}).status == 400


def test_a_client_that_sends_back_the_tag_is_spared_the_body(wiki: Any) -> None:
    for path in ("page/Old_harbour", "page/Old_harbour/with_html", "revision/4097/html", "page/MediaWiki:Edit/html"):
        tag = wiki.rest(path)["etag"]
        assert wiki.rest(path, headers={"if-none-match": tag}).status == 304
        assert wiki.rest(path, headers={"if-match": tag}).status == 200
