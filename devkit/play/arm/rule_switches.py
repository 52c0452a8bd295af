"""Switches rules of the mock on and off when a share of the traffic is published, and records when.

It polls every few milliseconds on its own thread: the arm's loop would be late at hundreds of events a second, and may
block while a fault holds a part. A mock that does not answer is tried again.
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

_POLL_S = 0.02
_RETRY_S = 0.5

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
        """The switches made, by the name of the rule."""

    def begin(self) -> None:
        """Start the thread if there is anything to switch."""
        if self._due:
            self._thread.start()

    def look(self) -> None:
        """Raises DevkitError if the mock refused a switch."""
        if self._error is not None:
            raise self._error

    def end(self) -> None:
        """Stop the thread."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait_s = _POLL_S
        while self._due and not self._ended.wait(wait_s):
            wait_s = _POLL_S
            try:
                while self._due and (published := self._published()) >= self._due[0].count:
                    self._switch_rule(self._due[0], published)
                    self._due.pop(0)
            except MockSilentError:
                wait_s = _RETRY_S
            except DevkitError as error:
                self._error = error
                return

    def _switch_rule(self, due: _Due, published: int) -> None:
        self._switch(due.name, due.on)
        at_s = round(self._clock.now_s(), 3)
        self.done[due.name] = (*self.done.get(due.name, ()), RuleSwitch(on=due.on, at_s=at_s, published=published))
        self._log.add(RuleSwitched(name=due.name, on=due.on, at_s=at_s, published=published))
        how = "on" if due.on else "off"
        self._log.say("fault", f"{due.name} is switched {how}: {published} of {counted(self._events, 'event')} are out")
