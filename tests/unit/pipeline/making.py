"""What most tests of the pipeline need: a configuration, and an event."""

from typing import Any

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.schemas import PAGE_CHANGE_URI
from tests.unit.pipeline.least_config import least_config


def make_config(**sections: Any) -> PipelineConfig:
    """A configuration; keywords are sections that replace or add to the least there can be."""
    return PipelineConfig.model_validate(least_config(**{"parent_cache": {"policy": "none"}} | sections))


def make_event(kind: str = "edit", *, page_id: int = 7, **changes: Any) -> dict[str, Any]:
    """A page change event; `revision`, `meta` and `page` add to what is there, None takes a member away."""
    rev_id = page_id * 4096 + 2
    made: dict[str, Any] = {
        "$schema": PAGE_CHANGE_URI,
        "meta": {
            "stream": "mediawiki.page_change.v1",
            "dt": "2026-03-02T09:00:00.150Z",
            "id": "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a",
            "domain": "en.wikipedia.org",
        },
        "dt": "2026-03-02T09:00:00Z",
        "wiki_id": "enwiki",
        "changelog_kind": {"create": "insert", "undelete": "insert", "delete": "delete"}.get(kind, "update"),
        "page_change_kind": kind,
        "page": {"page_id": page_id, "page_title": "Äpfel", "namespace_id": 0},
        "revision": {
            "rev_id": rev_id,
            "rev_dt": "2026-03-02T09:00:00Z",
            "rev_parent_id": rev_id - 1,
            "content_slots": {"main": {"slot_role": "main", "content_model": "wikitext"}},
        },
    }
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(made.get(name), dict):
            merged = made[name] | value
            made[name] = {key: item for key, item in merged.items() if item is not None}
        elif value is None:
            del made[name]
        else:
            made[name] = value
    return made
