import json
from pathlib import Path
from typing import Any

import pytest

from devkit.report.result import Result
from devkit.report.run_record import RunRecord, read_run
from tests.unit.devkit.report import storm


class Runs:
    """A directory of runs, `a-storm` among them; each run is a storm whose result was changed."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def write(self, time: str, result: Result | None = None, configuration: dict[str, Any] | None = None) -> Path:
        """`a-storm/TIME`, with a configuration of the fixed arm where one is given."""
        directory = storm.write_run(self.out / "a-storm" / time, with_result=False)
        (directory / "result.json").write_text((result or storm.result()).model_dump_json())
        if configuration is not None:
            (directory / "fixed").mkdir(exist_ok=True)
            (directory / "fixed" / "pipeline.yaml").write_text(json.dumps(configuration))
        return directory

    def read(self, *written: Any) -> RunRecord:
        """One that is written and read again."""
        return read_run(self.write(*written))


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "runs")
