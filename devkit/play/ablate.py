"""After a run that passed, plays the fixed arm again without each of its differences, to see which the fix needs.

The incident arms are not played again: their observations are those of the run, as are seed and stretch.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from devkit.errors import DevkitError, InvalidFileError, UsageError
from devkit.observe.arm_role import ArmName, Roles, in_role
from devkit.play.attempt import Attempt, BaselineRun
from devkit.play.options import RunOptions
from devkit.play.run import FinishedRun
from devkit.report.ablation import NEEDED, NOT_PLAYED_YET, AblatedDifference, Ablation
from devkit.report.next_step import next_step
from devkit.report.progress import Progress
from devkit.report.redaction import redact_model
from devkit.report.result import Result
from devkit.report.run_record import RESULT, read_run
from devkit.report.run_reports import RunReports, write_whole
from devkit.scenario.load import LoadedFile
from devkit.scenario.reverted_differences import RevertedDifference, reverted_differences

DIRECTORY = "ablation"
_UNUSABLE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Ablated:
    """The fixed arm whose differences are reverted, and the incident arm that it is compared with."""

    fixed: ArmName
    incident: ArmName

    @classmethod
    def of(cls, arms: tuple[ArmName, ...], roles: Roles) -> "Ablated":
        """The pair among the played arms. Raises UsageError if there is none, or more than one fixed arm."""
        fixes, incidents = ([arm for arm in in_role(roles, role) if arm in arms] for role in ("fixed", "incident"))
        if len(fixes) > 1:
            names = " or ".join(f"--arm {name}" for name in fixes)
            raise UsageError(f"--ablate: there is more than one fixed arm: {', '.join(fixes)}", hint=f"say {names}")
        if not fixes or not incidents:
            missing = "a fixed arm" if not fixes else "an incident arm"
            raise UsageError(f"--ablate: {missing} has to be played as well", hint="name it with a further --arm")
        return cls(fixes[0], incidents[0])


@dataclass(frozen=True)
class AblationRun:
    """The ablation of `run`, a passed run of `file` with these options."""

    file: LoadedFile
    run: FinishedRun
    options: RunOptions
    ablated: Ablated
    progress: Progress

    def play(self) -> Result:
        """The run's result with the outcome of each ablated difference.

        It and the reports are written after each play, so an interrupt loses nothing. Raises UsageError if the file
        says no difference between the arms.
        """
        fixed, incident = self.ablated.fixed, self.ablated.incident
        directory, say = self.run.directory, lambda text: self.progress.line("report", text)
        reports = RunReports(directory, read_run(directory).metadata, say=say)
        differences = list(reverted_differences(self.file, fixed, incident))
        if not differences:
            text = f"--ablate: {fixed} differs from {incident} in nothing that the file says"
            raise UsageError(text, hint="what a program does by DEVKIT_ARM is known to it alone")
        outcomes = [_unplayed(difference).model_copy(update={"reason": NOT_PLAYED_YET}) for difference in differences]
        result = self._write(outcomes, reports)
        for number, difference in enumerate(differences, 1):
            self.progress.line("ablation", f"{number} of {len(differences)}: {fixed} without {difference.difference}")
            outcomes[number - 1] = self._play_without(difference, number)
            result = self._write(outcomes, reports)
        return result

    @property
    def _repeat(self) -> str:
        return f"{self.options.repeat} --ablate"

    def _write(self, outcomes: Sequence[AblatedDifference], reports: RunReports) -> Result:
        baseline, fixed = self.run.result, self.ablated.fixed
        ablation = Ablation(
            arm=fixed,
            against=self.ablated.incident,
            as_played=baseline.arms[fixed].expectations,
            differences=tuple(outcomes),
        )
        result = redact_model(baseline.model_copy(update={"ablation": ablation, "repeat": self._repeat}))
        write_whole(self.run.directory / RESULT, result.model_dump_json(indent=2) + "\n")
        is_over = all(outcome.reason != NOT_PLAYED_YET for outcome in outcomes)
        reports.ablated(result, is_over=is_over)
        return result

    def _play_without(self, difference: RevertedDifference, number: int) -> AblatedDifference:
        outcome = _unplayed(difference)
        directory = Path(DIRECTORY) / f"{number}-{_UNUSABLE.sub('-', difference.difference)}"
        try:
            without = difference.load(self.file, self.options.instead)
            if without is None:
                return outcome.model_copy(update={"needed": "no", "reason": "it is the default all the same"})
            result = self._play(without, difference, self.run.directory / directory)
        except InvalidFileError as error:
            return outcome.model_copy(update={"reason": f"the rest is invalid without it: {error.problems[0].text}"})
        except DevkitError as error:
            return outcome.model_copy(update={"reason": str(error).partition("\n")[0]})
        needed = NEEDED.get(result.outcome, "unclear")
        known = {
            "needed": needed,
            "outcome": result.outcome,
            "expectations": result.arms[self.ablated.fixed].expectations,
            "directory": str(directory),
        }
        if needed == "unclear":
            known |= {"reason": next(iter(result.reasons), ""), "next_step": next_step(result)}
        return outcome.model_copy(update=known)

    def _play(self, without: LoadedFile, difference: RevertedDifference, directory: Path) -> Result:
        directory.mkdir(parents=True)
        compared = {arm: observed for arm, observed in self.run.compared.items() if arm != self.ablated.fixed}
        options = replace(
            self.options,
            arms=(self.ablated.fixed,),
            repeat=self._repeat,
            changes=(*self.options.changes, difference.changed_value),
        )
        attempt = Attempt(
            without.scenario.with_seed(self.run.result.seed),
            options,
            directory,
            self.progress,
            lambda *_: None,
            baseline=BaselineRun(self.run.result, compared, difference.difference),
        )
        return attempt.play().result


def _unplayed(difference: RevertedDifference) -> AblatedDifference:
    return AblatedDifference(difference=difference.difference, incident=difference.incident, fixed=difference.fixed)
