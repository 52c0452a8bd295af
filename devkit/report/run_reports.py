"""Writes what a person and a CI job read of a run, as the run goes on: junit.xml, report.html, summary.md.

Each file is replaced as a whole, so half of one is never read. A report that cannot be written is reported, and the
verdict in `result.json` stays.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.report.ablation import ablation_lines
from devkit.report.junit import junit_xml
from devkit.report.page.page import render_page
from devkit.report.result import ArmResult, Result
from devkit.report.run_record import read_run
from devkit.report.summary import ablation_markdown, broke_off_markdown, summary_markdown
from devkit.report.verdict_lines import verdict_lines

REPORT = "report.html"
JUNIT = "junit.xml"
SUMMARY = "summary.md"
JOB_SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


class RunReports:
    """The reports of one run: `begin`, `arm_ended` for each arm, then `finish` or `break_off`, then
    `ablated` where that is asked for.

    `say` gets one line for each report that could not be written.
    """

    def __init__(
        self,
        directory: Path,
        metadata: RunMetadata,
        *,
        say: Callable[[str], None],
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._directory, self._metadata, self._say, self._environment = directory, metadata, say, environment
        self._arms: dict[ArmName, ArmResult] = {}

    def begin(self) -> None:
        """Writes junit.xml, in which nothing has ended yet."""
        self._attempt(JUNIT, lambda: junit_xml(self._metadata, {}))

    def arm_ended(self, arm: ArmName, result: ArmResult) -> None:
        """Writes junit.xml with the arms so far; the other reports come at the run's end alone."""
        self._arms[arm] = result
        self._attempt(JUNIT, lambda: junit_xml(self._metadata, self._arms))

    def finish(self, result: Result) -> None:
        """To be called when result.json and the timeline are complete."""
        self._arms = dict(result.arms)
        output = "\n".join(verdict_lines(result, self._directory))
        broke_off = result.broke_off or None
        self._attempt(
            JUNIT, lambda: junit_xml(self._metadata, self._arms, result=result, output=output, broke_off=broke_off)
        )
        self._attempt(REPORT, self._page)
        self._summarise(lambda: summary_markdown(result, self._directory))

    def ablated(self, result: Result, *, is_over: bool) -> None:
        """The reports of a finished run again, with what its ablation found so far: `result.ablation` is not None."""
        assert result.ablation is not None
        lines = [*verdict_lines(result, self._directory), *ablation_lines(result.ablation, self._directory)]
        self._attempt(JUNIT, lambda: junit_xml(self._metadata, result.arms, result=result, output="\n".join(lines)))
        self._attempt(REPORT, self._page)
        self._attempt(SUMMARY, lambda: summary_markdown(result, self._directory))
        if is_over:
            self._append(ablation_markdown(result.ablation))

    def break_off(self, error: str) -> None:
        """Writes the reports of a run without a result, as no arm has ended."""
        self._attempt(JUNIT, lambda: junit_xml(self._metadata, self._arms, broke_off=error))
        self._attempt(REPORT, self._page)
        self._summarise(lambda: broke_off_markdown(self._metadata, error, self._directory))

    def _page(self) -> str:
        return render_page(read_run(self._directory))

    def _summarise(self, write: Callable[[], str]) -> None:
        text = self._attempt(SUMMARY, write)
        if text is not None:
            self._append(text)

    def _append(self, text: str) -> None:
        """To the page of the job, where it has one."""
        target = self._environment.get(JOB_SUMMARY_VARIABLE)
        if not target:
            return
        try:
            with Path(target).open("a", encoding="utf-8") as summary:
                summary.write(text)
        except OSError as error:
            self._say(f"{target} ({JOB_SUMMARY_VARIABLE}) cannot be written: {error.strerror}")

    def _attempt(self, name: str, write: Callable[[], str]) -> str | None:
        try:
            text = write()
            write_whole(self._directory / name, text)
        except Exception as error:  # noqa: BLE001 — a report's defect must not cost the verdict, and is said
            self._say(f"{name} could not be written: {type(error).__name__}: {error}")
            return None
        return text


def write_whole(file: Path, text: str) -> None:
    """Replace a file at once."""
    aside = file.with_name(f".{file.name}.part")
    aside.write_text(text, encoding="utf-8")
    aside.replace(file)
