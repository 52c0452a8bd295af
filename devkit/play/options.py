"""How a scenario is run, and on which stack."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from devkit.debug.debugger import Role
from devkit.debug.pause_point import PausePoint
from devkit.errors import UsageError
from devkit.extensions import require_here
from devkit.guardian import Guardian
from devkit.observe.arm_role import ArmName
from devkit.observe.settings import ChangedValue
from devkit.programs.hosts_file import refusal_of_hosts_file
from devkit.programs.program import Program
from devkit.scenario.resolve import ResolvedScenario
from devkit.stack.registry import DEFAULT
from devkit.stack.stack import NO_WISHES, Stack, StackRequest

_CONTAINERS = ("compose", "testcontainers")
_EMBEDDED = "use `--stack embedded`"

OnKeep = Callable[[Stack, Guardian, Path], None]
"""Gets the stack, its guardian and the directory of the parts' logs, and releases the guardian."""


@dataclass(frozen=True)
class RunOptions:
    """`repeat` is the command line that would run it again, `changes` what it set otherwise than the scenario's file.

    `instead` takes the place of the scenario's main program. Without `pause_limit` only a person ends a pause. Without
    `stretch` the calibration of the machine chooses it, and a run that was short of time is played again.
    """

    arms: tuple[ArmName, ...]
    out: Path
    keep: bool
    repeat: str
    stack: str = DEFAULT
    request: StackRequest = NO_WISHES
    instead: Program | None = None
    pause_at: tuple[PausePoint, ...] = ()
    pause_limit: timedelta | None = None
    debug: Role | None = None
    stretch: int | None = None
    changes: tuple[ChangedValue, ...] = ()


def stack_request(resolved: ResolvedScenario, options: RunOptions) -> StackRequest:
    """The request of the options, with the scenario's topics, brokers, limits, proxies and triple store.

    Raises UsageError for a mock fault of an extension if the mock runs in a container, which does not have it, and for
    a fault that needs programs to have a hosts file of their own if they cannot.
    """
    scenario = resolved.scenario
    if options.stack in _CONTAINERS:
        faults = (fault.name for _, rule in scenario.rules_at() for fault, _ in rule.do.given())
        require_here("fault of the mock", faults, where=f"the mock's image of the {options.stack} stack")

    _require_hosts_file(resolved, options)

    def fetch() -> None:
        for program in resolved.programs.values():
            program.fetch()

    return replace(
        options.request,
        topics=resolved.topics_made_afresh(options.arms),
        brokers=scenario.kafka.brokers,
        proxied=frozenset(part for _, item, _ in scenario.timeline_at() for part in item.proxied),
        triple_store=resolved.needs_triple_store,
        limits=next(filter(None, (resolved.arms[arm].scenario.container for arm in options.arms)), None),
        meanwhile=fetch,
    )


def _require_hosts_file(resolved: ResolvedScenario, options: RunOptions) -> None:
    item = next((item for _, item, _ in resolved.scenario.timeline_at() if item.named), None)
    if item is None:
        return
    limits = (resolved.arms[arm].scenario.container for arm in options.arms)
    if options.stack == "compose" and any(limit and limit.memory for limit in limits):
        why, hint = "a program with a memory limit runs in a container, which has a hosts file of its own", _EMBEDDED
    else:
        why, hint = refusal_of_hosts_file(), "play it on Linux, where root or any user may make a mount namespace"
    if why:
        raise UsageError(f"fault {item.name!r} ({item.do}) cannot be: {why}", hint=hint)
