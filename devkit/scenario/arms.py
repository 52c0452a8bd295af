"""The arms of a scenario file: their own settings, `tried_first`, and expectations.

`tried_first` and `expect` are written by an arm's name, or for all arms of a role by the role.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from devkit.container.limits import Container
from devkit.expectations import StatedExpectation
from devkit.faults.timeline_item import Timeline
from devkit.observe.arm_role import ROLES, ArmRole, Roles, in_role
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.scenario.arm_step import Steps
from devkit.scenario.launch_settings import LaunchSettings
from devkit.scenario.programs import Overlay, ProgramName, ProgramSettings, empty_mapping
from devkit.scenario.stack_settings import ArmKafka, Mock
from located_config.near import LIKE_BESIDE_OWN, nearest

_RESERVED = ("stack", "first-play", "ablation", "latest", "verdict")
"""Names of other entries in the directory of a run, and of other JUnit suites."""

T = TypeVar("T")


def _check_not_reserved(name: str) -> str:
    if name in _RESERVED:
        raise ValueError(f"{name!r} is the name of something else in the directory of a run; choose another")
    return name


ArmKey = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,30}$"), AfterValidator(_check_not_reserved)]
"""An arm's name, or a role, which means each arm that has it."""


class ArmSettings(LaunchSettings):
    """What an arm has of its own: keys of the configuration, what its main program is started with, and by name what
    single `programs` have in it.
    """

    model_config = ConfigDict(frozen=False, extra="allow")

    role: ArmRole | None = Field(
        default=None,
        description="Whether the incident happens in this arm (`incident`), or is prevented (`fixed`). Arms of these "
        "names have that role; each other one has to say it.",
    )
    programs: dict[ProgramName, ProgramSettings] = Field(
        default={}, description="What single programs have in this arm, by name."
    )
    supervisor: SupervisorPolicy | None = Field(
        default=None,
        description="What the supervisor does otherwise in this arm.",
        examples=[{"attempts": 3}],
    )

    container: Container | None = Field(
        default=None, description="Limits of each program in this arm.", examples=[{"memory": "1GiB"}]
    )
    kafka: ArmKafka | None = Field(
        default=None,
        description="Settings of topics in this arm, on top of those that all arms share.",
        examples=[{"topics": {"output": {"max.message.bytes": "1MiB"}}}],
    )
    mock: Mock | None = Field(
        default=None,
        description="Rules of the mock in this arm: behind those that all arms share, but in the place of one that has "
        "the same name.",
    )
    start: Annotated[str, StringConstraints(pattern=r"^(earliest|latest|timestamp=\S+)$")] = Field(
        default="earliest",
        description="Where the pipeline begins to read at the arm's start, as `pipeline run --new` takes it.",
        examples=["latest"],
    )

    timeline: Timeline = Field(
        default=(),
        description="Faults in this arm alone: behind those of the scenario's `timeline`, but in the place of one that "
        "has the same name.",
        examples=[[{"name": "broker still", "do": {"pause": {"part": "kafka"}}, "at": "10s", "for": "5s"}]],
    )
    steps: Steps = Field(
        default=(),
        description="What happens to the main program in this arm, one after the other: it is started and stopped, an "
        "outcome is awaited, an operator's command is run. `until` counts once all are done. Default: the program is "
        "started.",
        examples=[
            [{"start": "new"}, {"expect": {"refused": "no position"}}, {"start": {"arguments": ["--new", "latest"]}}]
        ],
    )

    @property
    def overlay(self) -> dict[str, Any]:
        """What is on top of the shared configuration."""
        return dict(self.model_extra or {})


def wrong_at(place: tuple[str | int, ...], problem: str, hint: str) -> PydanticCustomError:
    """The error of a validator for a problem at a place below its value."""
    return PydanticCustomError("below", "{problem}; {hint}", {"problem": problem, "hint": hint, "below": place})


def _with_roles(written: dict[str, ArmSettings]) -> dict[str, ArmSettings]:
    """The arms with their roles, incident arms first."""
    arms = {name: settings.model_copy(update={"role": _role(name, settings)}) for name, settings in written.items()}
    for role in ROLES:
        if not any(settings.role == role for settings in arms.values()):
            remedy = f"write one under `{role}:`, or one of another name with `role: {role}`"
            raise wrong_at((), f"no arm has the role {role}", remedy)
    return {name: settings for role in ROLES for name, settings in arms.items() if settings.role == role}


def _role(name: str, settings: ArmSettings) -> ArmRole:
    named = next((role for role in ROLES if role == name), None)
    if named is None and settings.role is None:
        near = nearest(name, ROLES, like=LIKE_BESIDE_OWN)
        remedy = f"did you mean {near!r}?" if near else "write `role: incident` or `role: fixed`"
        raise wrong_at((name,), f"arm {name!r} has no role", remedy)
    if named is not None and settings.role not in (None, named):
        raise wrong_at((name, "role"), f"an arm named {name!r} has the role {named}", "leave it out, or rename the arm")
    role = settings.role or named
    assert role is not None
    return role


ArmOverlay = Annotated[
    ArmSettings, BeforeValidator(empty_mapping, json_schema_input_type=ArmSettings | dict[str, Any] | None)
]
Arms = Annotated[dict[ArmKey, ArmOverlay], AfterValidator(_with_roles)]
TriedFirst = dict[ArmKey, Overlay | None]
Expectations = dict[ArmKey, Annotated[tuple[StatedExpectation, ...], Field(min_length=1)]]


def require_expectations(expect: Mapping[str, object], roles: Roles) -> None:
    """Each arm has expectations, by its name or its role, and each key is for some arm."""
    require_arms(("expect",), expect, roles)
    for arm, role in roles.items():
        if arm not in expect and role not in expect:
            raise wrong_at(
                ("expect",), f"nothing is expected of the arm {arm}", f"write it under `{arm}:` or `{role}:`"
            )
    for role in ROLES:
        if role in expect and all(name in expect and name != role for name in in_role(roles, role)):
            message = f"each arm of the role {role} has expectations of its own, so these are for none"
            raise wrong_at(("expect", role), message, "leave them out")


def require_arms(place: tuple[str | int, ...], words: Collection[str], roles: Roles) -> None:
    """Each word is an arm or a role. The keys of a mapping have their own places below `place`."""
    for word in words:
        if word not in roles and word not in ROLES:
            known = dict.fromkeys((*roles, *ROLES))
            near = nearest(word, known)
            remedy = f"did you mean {near!r}?" if near else f"there are: {', '.join(known)}"
            at = (*place, word) if isinstance(words, Mapping) else place
            raise wrong_at(at, f"there is no arm {word!r}", remedy)
