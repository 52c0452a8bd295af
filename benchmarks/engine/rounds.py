"""Several contestants, several times, in turns: what else the machine does meets all of them."""

import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence

from benchmarks.engine.race import Outcome

MEASURES = ("steady", "appending", "whole", "cpu_ms")


def in_turns(names: Sequence[str], rounds: int, one: Callable[[str, int], Outcome]) -> dict[str, list[Outcome]]:
    """`one` is called with a contestant and the number of the round; the order turns from round to round."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in names}
    for number in range(rounds):
        shift = number % len(names)
        for name in [*names[shift:], *names[:shift]]:
            outcome = one(name, number)
            outcomes[name].append(outcome)
            say(_line(number, outcome))
    return outcomes


def medians(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, dict[str, object]]:
    """By contestant and measure: the median, the least and the most."""
    return {
        name: {
            measure: {
                "median": round(statistics.median(values), 2),
                "least": round(min(values), 2),
                "most": round(max(values), 2),
            }
            for measure in MEASURES
            if (values := [float(getattr(outcome, measure)) for outcome in runs])
        }
        for name, runs in outcomes.items()
    }


def share(outcomes: Mapping[str, Sequence[Outcome]], name: str, of: str, measure: str) -> dict[str, float]:
    """`name`'s figure as a share of `of`'s: of each round, then the median."""
    pairs = zip(outcomes[name], outcomes[of], strict=True)
    shares = [float(getattr(one, measure)) / float(getattr(other, measure)) for one, other in pairs]
    return {
        "median": round(statistics.median(shares), 3),
        "least": round(min(shares), 3),
        "most": round(max(shares), 3),
    }


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _line(number: int, outcome: Outcome) -> str:
    whole = {role: used.cpu_s * 1000 / outcome.events for role, used in outcome.usage.by_role.items()}
    problems = f", {outcome.errors} ERRORS" if outcome.errors else ""
    steady = f"; of the steady part: {_by_role(outcome.steady_cpu_ms)}" if outcome.steady_cpu_ms else ""
    return (
        f"round {number + 1} {outcome.contestant:<16} steady {outcome.steady:6.0f}/s  "
        f"appending {outcome.appending:6.0f}/s  whole {outcome.whole:6.0f}/s  "
        f"first output after {outcome.first_output_s:.1f} s{problems}\n"
        f"        CPU ms an event: {_by_role(whole)}{steady}; others used {outcome.usage.others_cpu_s:.0f} s, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def _by_role(cpu_ms: Mapping[str, float]) -> str:
    roles = ", ".join(f"{role.partition(': ')[2] or role} {ms:.2f}" for role, ms in sorted(cpu_ms.items()))
    return f"{sum(cpu_ms.values()):.2f} ({roles})"
