"""Checks for steps of an arm that can never begin or end."""

from collections.abc import Iterator, Sequence

from devkit.scenario.arm_step import ArmStep
from devkit.scenario.placeholders import OF_DUMP, PLACES, known_places, places_in, unknown_places
from devkit.scenario.resolve import ResolvedScenario
from located_config.place import Location

_ENDS = ("stop", "expect", "when")
"""Steps after which a program may be over; between two starts there must be one."""


def check_steps(resolved: ResolvedScenario) -> Iterator[tuple[Location, str]]:
    """Problems of `steps`, with their places."""
    known = known_places(PLACES, has_triple_store=resolved.needs_triple_store)
    for arm, settings in resolved.scenario.arms.items():
        steps_place: Location = ("arms", arm, "steps")
        if settings.steps and not any(step.start for step in settings.steps):
            yield steps_place, "no step starts the program; begin with `start: new`"
        may_be_over, has_begun, may_have_checkpoint = True, False, False
        for number, step in enumerate(settings.steps):
            place: Location = (*steps_place, number, step.kind)
            if step.start is not None:
                if not may_be_over:
                    yield place, "the program still runs then; let it `stop`, or `expect` its end, before"
                is_again = step.start.position == "checkpoint" and not step.start.arguments
                if not has_begun and not may_have_checkpoint and is_again:
                    yield place, "there is no checkpoint at the first start; write `start: new`"
                may_be_over, has_begun = False, True
            elif step.kind in _ENDS:
                if not has_begun:
                    yield place, "the program has not been started before this step"
                may_be_over = True
            may_have_checkpoint |= step.command is not None
            words = step.start.arguments if step.start else step.command.argv if step.command else ()
            for text in (*unknown_places(words, known), *_check_dump(words, resolved)):
                yield place, text
            for below, text in _check_awaited(resolved, arm, step):
                yield (*place, *below), text


def _check_dump(words: Sequence[str], resolved: ResolvedScenario) -> Iterator[str]:
    if resolved.scenario.traffic.dump is None:
        for name in places_in(words):
            if name in OF_DUMP:
                yield f"there is no dump for {{{name}}}; write `dump: {{ begins: 40s, takes: 2m }}` under traffic"


def _check_awaited(resolved: ResolvedScenario, arm: str, step: ArmStep) -> Iterator[tuple[Location, str]]:
    awaited = step.expect
    if awaited is None:
        return
    if awaited.refused is not None and resolved.main.command:
        yield ("refused",), "the exit codes of a command are its own, so nothing shows that it refused its start"
    for place, condition in awaited.inside():
        if condition.gave_up and resolved.arms[arm].supervisor.attempts is None:
            yield (*place, "gave_up"), "this arm's supervisor never gives up: write `supervisor: { attempts: 3 }`"
        for key in ("elapsed", "running_for"):
            time = getattr(condition, key)
            if time is not None and time >= resolved.scenario.until.deadline:
                yield (*place, key), "the arm ends at its deadline before that"
