"""Two runs, `a` and `b`, side by side: verdicts, expectations, figures, configuration, and the time of their machines.

RunRecord, RunRecord ─▶ RunComparison ─▶ text, JSON
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from devkit.errors import UsageError
from devkit.observe.arm_role import ArmName
from devkit.observe.settings import ChangedValue
from devkit.programs.places import CONFIG_FILE
from devkit.programs.spark.configuration import GIVEN_BY_STACK
from devkit.report.expectation_result import ExpectationResult
from devkit.report.outcome import Outcome
from devkit.report.result import ArmResult, Result
from devkit.report.run_record import RunRecord
from devkit.scenario.resolve import KIT_KEYS
from located_config.dotted_keys import differences
from located_config.duration import parse_duration

_OUTSIDE = (*KIT_KEYS, "programs", "slots", "spark", "supervisor")
"""Where differences of the arms stand that are in no program's configuration."""
_GIVEN = frozenset(".".join(key) for key in GIVEN_BY_STACK)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ComparedRun(_Model):
    """One of the two. `slowdown` is how many times slower than when it is free the machine was at the start, None where
    it was not measured; every duration was `stretch` times that of the file.
    """

    directory: str
    scenario: str
    seed: int
    outcome: Outcome
    exit_code: int
    changes: tuple[ChangedValue, ...]
    slowdown: float | None
    stretch: int


class Measured(_Model):
    """What one run expected and measured."""

    expected: str
    measured: str
    holds: bool | None


class ComparedExpectation(_Model):
    """An expectation of an arm; None where that run did not have it."""

    arm: ArmName
    name: str
    a: Measured | None
    b: Measured | None


class ComparedFigure(_Model):
    """A figure of an arm, under its name in result.json; `ratio` is b / a, None where there is none."""

    arm: ArmName
    name: str
    a: int | float | None
    b: int | float | None
    ratio: float | None


class ComparedSetting(_Model):
    """A key of the configuration that an arm had otherwise; None where it is not set.

    `by_stretch`: a duration that is the same in the file, and was stretched otherwise.
    """

    arm: ArmName
    key: str
    a: Any
    b: Any
    by_stretch: bool


class ComparedMachine(_Model):
    """How many times slower than when it is free the machine was in an arm, and in the slowest ten seconds of it."""

    arm: ArmName
    slowdown_a: float | None
    slowdown_b: float | None
    worst_a: float | None
    worst_b: float | None


class RunComparison(_Model):
    """Of the arms that both played; `only_a` and `only_b` are others. `figures` has all of them, equal ones too.
    `versions` are those that differ, by part.
    """

    a: ComparedRun
    b: ComparedRun
    only_a: tuple[ArmName, ...]
    only_b: tuple[ArmName, ...]
    expectations: tuple[ComparedExpectation, ...]
    figures: tuple[ComparedFigure, ...]
    settings: tuple[ComparedSetting, ...]
    machine: tuple[ComparedMachine, ...]
    versions: dict[str, tuple[str | None, str | None]]

    @classmethod
    def of(cls, a: RunRecord, b: RunRecord) -> "RunComparison":
        """Raises UsageError where one has no result."""
        result_a, result_b = _result(a), _result(b)
        pairs = [(arm, played, result_b.arms[arm]) for arm, played in result_a.arms.items() if arm in result_b.arms]
        versions = {
            key: (result_a.versions.get(key), result_b.versions.get(key))
            for key in result_a.versions | result_b.versions
        }
        return cls(
            a=_run(a.directory, result_a),
            b=_run(b.directory, result_b),
            only_a=tuple(arm for arm in result_a.arms if arm not in result_b.arms),
            only_b=tuple(arm for arm in result_b.arms if arm not in result_a.arms),
            expectations=tuple(expectation for pair in pairs for expectation in _expectations(*pair)),
            figures=tuple(figure for pair in pairs for figure in _figures(*pair)),
            settings=tuple(setting for arm, *_ in pairs for setting in _settings(arm, a, b)),
            machine=tuple(_machine(*pair) for pair in pairs),
            versions={key: pair for key, pair in versions.items() if pair[0] != pair[1]},
        )


def _result(run: RunRecord) -> Result:
    if run.result is None:
        raise UsageError(f"{run.directory} has no result to compare")
    return run.result


def _run(directory: Path, result: Result) -> ComparedRun:
    return ComparedRun(
        directory=str(directory),
        scenario=result.scenario,
        seed=result.seed,
        outcome=result.outcome,
        exit_code=result.exit_code,
        changes=result.changes,
        slowdown=result.headroom and round(result.headroom.calibration.slowdown, 2),
        stretch=1 if result.headroom is None else result.headroom.stretch,
    )


def _expectations(arm: ArmName, a: ArmResult, b: ArmResult) -> Iterator[ComparedExpectation]:
    """In the order of the first run; of several with one name the first belongs to the first."""
    of_a, of_b = _by_name(a), _by_name(b)
    for name in dict.fromkeys((*of_a, *of_b)):
        for expectation_a, expectation_b in itertools.zip_longest(of_a.get(name, ()), of_b.get(name, ())):
            yield ComparedExpectation(arm=arm, name=name, a=expectation_a, b=expectation_b)


def _by_name(arm: ArmResult) -> dict[str, list[Measured]]:
    by_name: dict[str, list[Measured]] = {}
    for item in arm.expectations:
        by_name.setdefault(item.name, []).append(_measured(item))
    return by_name


def _measured(item: ExpectationResult) -> Measured:
    return Measured(expected=item.expected, measured=item.measured, holds=item.holds)


def _figures(arm: ArmName, a: ArmResult, b: ArmResult) -> Iterator[ComparedFigure]:
    of_a, of_b = dict(_numbers(a)), dict(_numbers(b))
    for name in dict.fromkeys((*of_a, *of_b)):
        value_a, value_b = of_a.get(name), of_b.get(name)
        ratio = round(value_b / value_a, 3) if value_a and value_b is not None else None
        yield ComparedFigure(arm=arm, name=name, a=value_a, b=value_b, ratio=ratio)


def _numbers(arm: ArmResult) -> Iterator[tuple[str, float]]:
    shown = arm.model_dump(include={"duration_s", "restarts", "replays", "replayed_offsets", "figures", "audit"})
    yield from _leaves(shown, "")


def _leaves(value: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def _settings(arm: ArmName, a: RunRecord, b: RunRecord) -> Iterator[ComparedSetting]:
    """Of the programs' effective configurations, then of what else the arms of a run differ in."""
    of_a, of_b = (_configurations(run.directory / arm) for run in (a, b))
    for program in dict.fromkeys((*of_a, *of_b)):
        differing = differences({"a": of_a.get(program, {}), "b": of_b.get(program, {})})
        for key, values in differing.items():
            if key not in _GIVEN:
                name = f"programs.{program}.{key}" if program else key
                yield _setting(arm, name, values["a"], values["b"], _stretch(a) / _stretch(b))
    between = [_result(run).config_difference for run in (a, b)]
    for key in sorted(key for key in {*between[0], *between[1]} if key.split(".")[0] in _OUTSIDE):
        value_a, value_b = (difference.get(key, {}).get(arm) for difference in between)
        if value_a != value_b:
            yield _setting(arm, key, value_a, value_b, _stretch(a) / _stretch(b))


def _stretch(run: RunRecord) -> int:
    headroom = _result(run).headroom
    return 1 if headroom is None else headroom.stretch


def _setting(arm: ArmName, key: str, a: Any, b: Any, stretch: float) -> ComparedSetting:
    try:
        by_stretch = parse_duration(a) == parse_duration(b) * stretch
    except (ValueError, TypeError):
        by_stretch = False
    return ComparedSetting(arm=arm, key=key, a=a, b=b, by_stretch=by_stretch)


def _configurations(directory: Path) -> dict[str, Any]:
    """The effective configuration of each program of an arm; the main one's name is empty."""
    files = {"": directory / CONFIG_FILE} | {file.parent.name: file for file in directory.glob(f"*/{CONFIG_FILE}")}
    return {name: _configuration(file) for name, file in files.items() if file.is_file() and name != "tried-first"}


def _configuration(file: Path) -> Any:
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return {"raw_config": text}  # which an arm was given as it is


def _machine(arm: ArmName, a: ArmResult, b: ArmResult) -> ComparedMachine:
    headroom_a, headroom_b = a.headroom, b.headroom
    return ComparedMachine(
        arm=arm,
        slowdown_a=headroom_a and headroom_a.slowdown,
        slowdown_b=headroom_b and headroom_b.slowdown,
        worst_a=headroom_a and headroom_a.worst_slowdown,
        worst_b=headroom_b and headroom_b.worst_slowdown,
    )
