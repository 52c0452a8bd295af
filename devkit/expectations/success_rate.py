"""Which share of the requests that ended were answered 200.

`all` is the whole arm. `after fault` is from the end of the last fault with an end (a rule with a window) to the end of
the traffic, with the same requests in both arms: a rate that stays low shows load that the clients cause.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.bounds import Percentage
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.figures import answers_text
from devkit.observe.observable import UPSTREAM, Observable
from located_config.count import counted


class SuccessRate(Percentage):
    """Bounds on the share, and of which requests."""

    of: Literal["all", "after fault"] = Field(
        default="all", description="Which requests count: all, or those after the last fault that ends."
    )


_SELECTED = {"all": "all requests", "after fault": "after the fault ends"}


@dataclass(frozen=True, kw_only=True)
class _SuccessRate(ExpectationKind):
    name: str = "success_rate"
    summary: str = (
        "Share of the requests that ended with status 200. `of: after fault` counts from the end of the last "
        "`window` of a rule to the end of the traffic."
    )
    example: str = "{of: after fault, at_least: 90%}"
    argument: Any = SuccessRate
    needs: frozenset[Observable] = UPSTREAM

    def judge(self, argument: SuccessRate, observation: ArmObservation) -> Finding:
        figures = observation.figures
        answers = figures.answers if argument.of == "all" else figures.answers_after_fault
        expected = f"{argument} ({_SELECTED[argument.of]})"
        if answers is None or answers.success_rate is None:
            measured = "no request ended" + (
                "" if argument.of == "all" else " between the end of the fault and the end of the traffic"
            )
            return Finding(self.name, expected, measured, holds=False)
        requests = counted(sum(answers.by_status.values()), "request")
        measured = f"{answers.success_rate:.0%} of {requests} ({answers_text(answers.by_status)})"
        rate = answers.success_rate
        return Finding(self.name, expected, measured, argument.admits(rate), figures=(argument.bounded(rate),))

    def figure(self, argument: SuccessRate, observation: ArmObservation) -> float | None:
        """As a fraction; None where no request ended."""
        answers = observation.figures.answers if argument.of == "all" else observation.figures.answers_after_fault
        return answers.success_rate if answers else None

    def check(self, argument: SuccessRate, arm: CheckedArm) -> Iterator[Flaw]:
        """`after fault` needs a fault that ends."""
        if argument.of == "after fault" and not arm.has_ending_fault:
            yield Flaw("no fault ends: give a rule of mock.rules a window with `for`, or measure `all`", ("of",))

    def depends_on_time(self, argument: SuccessRate, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


SUCCESS_RATE = _SuccessRate()
