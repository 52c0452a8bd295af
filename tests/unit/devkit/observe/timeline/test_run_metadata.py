import pytest

from devkit.observe.arm_role import TWO_ARMS, Roles
from devkit.observe.timeline.run_metadata import difference_text

FOUR: Roles = {"incident": "incident", "burst": "incident", "fixed": "fixed", "later": "fixed"}


@pytest.mark.parametrize(
    ("incident", "fixed", "text"),
    [
        ("none", "serialized", "none (incident) → serialized (fixed)"),
        (True, None, "true (incident) → not set (fixed)"),
        ([504, 503], {}, "[504, 503] (incident) → {} (fixed)"),
        (20.5, "é", "20.5 (incident) → é (fixed)"),
    ],
)
def test_values_are_written_as_in_a_file(incident: object, fixed: object, text: str) -> None:
    assert difference_text({"incident": incident, "fixed": fixed}, TWO_ARMS) == text


def test_arms_with_one_value_are_told_together() -> None:
    values = {"incident": "none", "burst": "none", "fixed": "serialized", "later": "header"}
    assert difference_text(values, FOUR) == "none (incident, burst) → serialized (fixed), header (later)"
