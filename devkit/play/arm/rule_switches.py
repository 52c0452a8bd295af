"""Switches rules of the mock on and off when a share of the traffic is published, and remembers when it did.

On a thread of its own, which looks every few milliseconds: at hundreds of events a second the arm's own look would come
late, and it may stand still with a part that a fault holds. While the mock is silent it is tried again.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devkit.errors import DevkitError
from devkit.observe.arm_observation import RuleSwitch
from devkit.observe.timeline.kit_events import RuleSwitched
from devkit.play.arm.clock import ArmClock
from devkit.play.arm.log import ArmLog
from devkit.scenario.rule_window import ScenarioRule
from devkit.stack.parts.mock_api import MockSilentError
from located_config.count import counted

_LOOK_S = 0.02
_AGAIN_S = 0.5

Switch = Callable[[str, bool], None]
"""Switches the rule of that name on or off. Raises StackError."""


@dataclass(frozen=True)
class _Due:
    name: str
    on: bool
    count: int


class RuleSwitches:
    """See `ArmHook`. `published` says how many of the traffic's `events` are out."""

    def __init__(
        self,
        rules: Sequence[ScenarioRule],
        switch: Switch,
        published: Callable[[], int],
        events: int,
        clock: ArmClock,
        log: ArmLog,
    ) -> None:
        due = [_Due(rule.name, True, rule.from_.count(events)) for rule in rules if rule.from_ is not None]
        due += [_Due(rule.name, False, rule.until.count(events)) for rule in rules if rule.until is not None]
        self._due = sorted(due, key=lambda switching: (switching.count, not switching.on))
        self._switch, self._published, self._events, self._clock, self._log = switch, published, events, clock, log
        self._ended = threading.Event()
        self._error: DevkitError | None = None
        self._thread = threading.Thread(target=self._run, name="rules of the mock", daemon=True)
        self.done: dict[str, tuple[RuleSwitch, ...]] = {}
        """What was switched, by the name of the rule."""

    def begin(self) -> None:
        """Looks from now on, where there is anything to switch."""
        if self._due:
            self._thread.start()

    def look(self) -> None:
        """Raises DevkitError where the mock refused."""
        if self._error is not None:
            raise self._error

    def end(self) -> None:
        """Switches nothing any more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait_s = _LOOK_S
        while self._due and not self._ended.wait(wait_s):
            wait_s = _LOOK_S
            try:
                while self._due and (published := self._published()) >= self._due[0].count:
                    self._do(self._due[0], published)
                    self._due.pop(0)
            except MockSilentError:
                wait_s = _AGAIN_S
            except DevkitError as error:
                self._error = error
                return

    def _do(self, due: _Due, published: int) -> None:
        self._switch(due.name, due.on)
        at_s = round(self._clock.now_s(), 3)
        self.done[due.name] = (*self.done.get(due.name, ()), RuleSwitch(on=due.on, at_s=at_s, published=published))
        self._log.add(RuleSwitched(name=due.name, on=due.on, at_s=at_s, published=published))
        how = "on" if due.on else "off"
        self._log.say("fault", f"{due.name} is switched {how}: {published} of {counted(self._events, 'event')} are out")
