"""How many connections the upstream got: `connections: {of: per_request, at_most: 0.1}`.

The mock counts them. A connection with a request counts as opened, and so does one that the mock reset at its limit
(the fault `connections`), which also counts as refused.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.bounds import Number
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import UPSTREAM, Observable
from located_config.count import counted


class Connected(Number):
    """Bounds on the number, and which it is."""

    of: Literal["opened", "refused", "per_request"] = Field(
        default="opened",
        description="Which number: of connections that carried a request, of those that were refused, or of "
        "connections for each request, which is 1 where none is used twice.",
    )


@dataclass(frozen=True, kw_only=True)
class _Connections(ExpectationKind):
    name: str = "connections"
    summary: str = (
        "Number of connections that carried a request to the upstream (`opened`), of connections that it refused "
        "at its limit (`refused`), or of connections divided by requests (`per_request`)."
    )
    example: str = "{of: per_request, at_most: 0.1}"
    argument: Any = Connected
    needs: frozenset[Observable] = UPSTREAM

    def judge(self, argument: Connected, observation: ArmObservation) -> Finding:
        expected = f"{argument} ({argument.of.replace('_', ' ')})"
        value = self.figure(argument, observation)
        if value is None:
            return Finding(self.name, expected, "no request came", holds=False)
        figures = observation.figures
        counts = f"{counted(figures.connections, 'connection')}, {figures.connections_refused} of them refused"
        measured = f"{value:.4g} ({counts}, for {counted(figures.requests, 'request')})"
        return Finding(self.name, expected, measured, argument.admits(value), figures=(argument.bounded(value),))

    def figure(self, argument: Connected, observation: ArmObservation) -> float | None:
        """None where no request came."""
        figures = observation.figures
        if not figures.requests:
            return None
        match argument.of:
            case "opened":
                return figures.connections
            case "refused":
                return figures.connections_refused
            case "per_request":
                return figures.connections / figures.requests

    def depends_on_time(self, argument: Connected, observation: ArmObservation) -> Window | None:  # noqa: ARG002
        return "arm"


CONNECTIONS = _Connections()
