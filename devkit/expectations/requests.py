"""How many requests a rule of the mock matched: `requests: {rule: slow page, at_least: 3}`.

The mock's journal counts them, also those that were never answered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.bounds import Count
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation, Evidence
from devkit.observe.observable import UPSTREAM, Observable
from located_config.count import counted
from located_config.near import near_miss


class Requested(Count):
    """Bounds on the number, and of which rule."""

    rule: str = Field(description="Name of a rule in `mock.rules` that is effective in the arm.")


@dataclass(frozen=True, kw_only=True)
class _Requests(ExpectationKind):
    name: str = "requests"
    summary: str = "Number of requests that a rule of the mock matched, answered or not."
    example: str = "{rule: slow page, at_least: 3}"
    argument: Any = Requested
    needs: frozenset[Observable] = UPSTREAM

    def judge(self, argument: Requested, observation: ArmObservation) -> Finding:
        expected = f"{argument} matched by {argument.rule!r}"
        value = self.figure(argument, observation)
        if value is None:
            return Finding(self.name, expected, _why_absent(argument, observation), holds=False)
        count = int(value)
        measured = f"{count} of {counted(observation.figures.requests, 'request')}"
        return Finding(self.name, expected, measured, argument.admits(count), figures=(argument.bounded(count),))

    def figure(self, argument: Requested, observation: ArmObservation) -> float | None:
        """None where the arm did not have the rule, or no request came at all."""
        evidence = _evidence(argument, observation)
        return evidence.requests if evidence is not None and observation.figures.requests else None

    def check(self, argument: Requested, arm: CheckedArm) -> Iterator[Flaw]:
        """The arm must have the rule."""
        if argument.rule not in arm.rules:
            hint = near_miss(argument.rule, arm.rules) if arm.rules else "`mock.rules` has none for it"
            yield Flaw(f"the arm has no rule {argument.rule!r}; {hint}", ("rule",))

    def depends_on_time(self, argument: Requested, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


def _evidence(argument: Requested, observation: ArmObservation) -> Evidence | None:
    rules = (item for item in observation.evidence if isinstance(item, Evidence))
    return next((item for item in rules if item.fault == argument.rule), None)


def _why_absent(argument: Requested, observation: ArmObservation) -> str:
    if _evidence(argument, observation) is None:
        return f"the arm had no rule {argument.rule!r}"
    return "no request came"


REQUESTS = _Requests()
