"""Runs the unit tests that a change affects: `python -m tests.selection`, or all and the main paths with `--all`."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.selection.record import Record, take_snapshot, unit_test_files

TOP = Path(__file__).parents[2]
RECORD = ".test-record.json"
ALL = ["-m", "main_path or (unit and not slow)", "tests/unit", "tests/integration", "tests/conformance"]
PARALLEL = ["-n", "auto", "--dist", "loadgroup"]
FEW_SECONDS = 15.0
"""Below that further processes, which have to import everything too, do not pay."""


def main(arguments: list[str], top: Path = TOP) -> int:
    """Returns pytest's exit code."""
    if os.environ.get("CI"):
        return subprocess.call([sys.executable, "-m", "pytest", *PARALLEL, *ALL], cwd=top)
    file = top / RECORD
    record = Record.load(file)
    now = take_snapshot(top)
    files = unit_test_files(now)
    selected = sorted(record.affected(top, now))
    if "--all" in arguments or not record.tests:
        print(f"all {len(files)} files of unit tests and the main paths", flush=True)
        tests = [*PARALLEL, *ALL]
        record = Record(sources=record.sources)
    else:
        seconds = sum(record.tests[name].seconds if name in record.tests else 1 for name in selected)
        print(
            f"{len(selected)} of {len(files)} files of unit tests ({seconds:.0f} s): what changed since they passed "
            "may affect them; no main paths. All: `just test --all`",
            flush=True,
        )
        if not selected:
            return 0
        tests = [*(PARALLEL if seconds > FEW_SECONDS else ()), "-m", "not slow", *selected]
    with tempfile.TemporaryDirectory(prefix="test-record-") as name:
        directory = Path(name)
        settings = directory / "coveragerc"
        settings.write_text(
            f"[run]\ndata_file = {directory}/.coverage\nparallel = true\ncontext = ${{TEST_RECORD_FILE-}}\n"
            f"source = {top}\nomit = {top}/.venv/*\nplugins = tests.selection.importing\n"
            "disable_warnings = no-data-collected\n"
        )
        environment = os.environ | {
            "TEST_RECORD": name,
            "TEST_RECORD_FILE": "",
            "TEST_RECORD_TOP": str(top),
            "COVERAGE_PROCESS_START": str(settings),
        }
        code = subprocess.call(
            [sys.executable, "-m", "pytest", "-p", "tests.selection.recording", *tests], cwd=top, env=environment
        )
        if code in (0, 1) and (directory / "main.json").exists():
            record.add_run(top, now, directory)
            record.save(file)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
