"""In how many settings a program ran otherwise than the scenario declares: `other_settings: 0`, or which:
`other_settings: {key: batch.max_offsets}`.

The program logs them in its event `configuration`. A file of its own, a variable or an argument may override the
declared settings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.bounds import or_exactly
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import ProgramOccurrences
from devkit.observe.arm_observation import ArmObservation
from located_config.dotted_keys import keys_of
from located_config.near import nearest

_SHOWN = 3


class OtherSettings(ProgramOccurrences):
    """Of `key`, or of what is below it; without, of all settings."""

    key: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Key of the configuration, or a section of it. Default: any key."
    )

    def covers(self, key: str) -> bool:
        """Whether a setting counts."""
        return self.key is None or key == self.key or key.startswith(f"{self.key}.")


@dataclass(frozen=True, kw_only=True)
class _OtherSettings(ExpectationKind):
    name: str = "other_settings"
    summary: str = (
        "Number of settings whose value in the program differs from the scenario's, by the configuration that its "
        "newest process logged; `key` limits the count to a setting or a section. Without a bound: at least one. "
        "Settings that the scenario does not declare do not count. Not observable if the program logs no "
        "configuration."
    )
    example: str = "{key: batch.max_offsets}"
    argument: Any = Annotated[OtherSettings, or_exactly(OtherSettings, int, int)]

    def judge(self, argument: OtherSettings, observation: ArmObservation) -> Finding:
        expected = f"{argument}" + (f" of {argument.key}" if argument.key else "")
        if observation.main.other_settings is None:
            return Finding(self.name, expected, "n/a: it logged no configuration", holds=None)
        differing = {key: setting for key, setting in observation.main.other_settings.items() if argument.covers(key)}
        settings = [f"{key} is {setting}" for key, setting in differing.items()]
        more = [f"{len(settings) - _SHOWN} more"] if len(settings) > _SHOWN else []
        measured = "; ".join([f"{len(differing)}", *settings[:_SHOWN], *more])
        count = len(differing)
        return Finding(self.name, expected, measured, argument.admits(count), figures=(argument.bounded(count),))

    def check(self, argument: OtherSettings, arm: CheckedArm) -> Iterator[Flaw]:
        """A key that its configuration does not have."""
        program = arm.program_of(argument).configured
        keys = () if argument.key is None or program is None else tuple(keys_of(program.effective()))
        if argument.key is not None and keys and argument.key not in keys:
            near = nearest(argument.key, keys)
            remedy = f"did you mean {near!r}?" if near else "docs/reference/configuration.md has all of them"
            yield Flaw(f"its configuration has no key {argument.key!r}; {remedy}", ("key",), is_playable=True)


OTHER_SETTINGS = _OtherSettings()
