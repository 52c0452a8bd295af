import orjson
import pytest

from devkit.observe.audit.named_schema import not_as_named
from tests.unit.devkit.observe.audit.events import enriched, source_event

OUTPUT = enriched(source_event(1))


def test_an_output_as_it_must_be() -> None:
    assert not_as_named(orjson.dumps(OUTPUT)) is None


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"wiki_id": 7}, "wiki_id"),
        ({"html_diff": {"base_rev_id": 10, "format": "json", "body": ""}}, "html_diff/format"),
        ({"html_diff": {"base_rev_id": 10, "format": "unified"}}, "html_diff"),
        ({"meta": {"stream": "s", "id": "no uuid", "dt": "2026-06-01T00:00:00Z"}}, "meta/id"),
        ({"$schema": "/error/2.1.0"}, "(top)"),
        ({"$schema": "/mediawiki/page/change/1.2.0"}, "(top)"),
    ],
)
def test_what_is_not_as_its_schema_says(changes: dict[str, object], place: str) -> None:
    wrong = not_as_named(orjson.dumps(OUTPUT | changes)) or ""
    assert wrong.startswith(f"not valid by {(OUTPUT | changes)['$schema']} at {place}: ")


def test_a_schema_that_the_producer_does_not_state_is_not_judged() -> None:
    assert not_as_named(orjson.dumps({"$schema": "/acme/links/1.0.0", "meta": 7})) is None
    assert not_as_named(b"[]") is None
    assert (not_as_named(b"{") or "").startswith("not JSON: ")
