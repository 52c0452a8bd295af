"""The fields of the published samples of page change events, against generated traffic.

When `shared/schemas` (the published, materialised files) stands beside the checkout, the samples of the schema and of
the fragments that it is made of are compared. Without it there is no sample, and the test says so.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.devkit.traffic.event_fields import Fields, fields_of, generated_fields, never_generated

ROOMS = ("devkit/traffic",)
PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "schemas"
_ENTITIES = "fragment/mediawiki/state/entity"
_SAMPLES = {
    "mediawiki/page/change/1.2.0.yaml": "",
    "fragment/mediawiki/state/change/page/1.2.0.yaml": "",
    "fragment/common/2.0.0.yaml": "",
    f"{_ENTITIES}/page/2.0.0.yaml": "/page",
    f"{_ENTITIES}/page_link/1.0.0.yaml": "/page/redirect_page_link",
    f"{_ENTITIES}/revision/1.0.0.yaml": "/revision",
    f"{_ENTITIES}/revision_slots/1.0.0.yaml": "/revision/content_slots",
    f"{_ENTITIES}/content/1.0.0.yaml": "/revision/content_slots/*",
    f"{_ENTITIES}/user/1.0.0.yaml": "/performer",
}
"""Where in an event the samples of each file are."""


def _samples() -> Iterator[tuple[str, Fields]]:
    for name, pointer in _SAMPLES.items():
        schema: dict[str, Any] = yaml.safe_load((PUBLISHED / name).read_text(encoding="utf-8"))
        yield name, fields_of(schema["examples"], pointer)


def test_every_field_of_the_samples_occurs_with_the_same_type_or_is_documented() -> None:
    if not PUBLISHED.is_dir():
        pytest.skip(f"no published schemas at {PUBLISHED}")
    generated = generated_fields()
    missing = {
        pointer: f"{name}: {sorted(types)}"
        for name, fields in _samples()
        for pointer, types in fields.items()
        if not types <= generated.get(pointer, set())
    }
    assert missing.keys() <= never_generated(), missing
