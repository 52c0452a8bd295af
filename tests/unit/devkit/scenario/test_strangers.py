"""What one part of a scenario file says of another is checked before anything starts."""

from datetime import timedelta

from tests.unit.devkit.conftest import Load


def test_a_success_rate_after_a_fault_that_ends(load: Load) -> None:
    scenario = load(
        ("restarts: { at_least: 2 }", "success_rate: { of: after fault, at_most: 40% }"),
        ("page: Huge }", "page: Huge, window: { from: 3s, for: 4s } }"),
    )
    assert scenario.mock.fault_over == timedelta(seconds=7)
