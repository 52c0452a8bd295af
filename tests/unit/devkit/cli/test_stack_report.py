from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.cli.stack_report import keep_stack
from devkit.guardian import Guardian
from devkit.stack.stack import Stack


@pytest.mark.parametrize(
    ("spark_ui", "line"), [(None, ""), ("http://127.0.0.1:2", "  Spark UI       http://127.0.0.1:2\n")]
)
def test_the_stack_is_handed_over_with_its_addresses_and_the_way_to_end_it(
    capsys: pytest.CaptureFixture[str], spark_ui: str | None, line: str
) -> None:
    released: list[Mapping[str, str]] = []
    guardian = cast(Guardian, SimpleNamespace(run_id="cafe0001", release=released.append))
    stack = cast(Stack, SimpleNamespace(addresses=lambda: {"kafka": "127.0.0.1:1"}))
    keep_stack(stack, guardian, Path("/runs/x"), spark_ui=spark_ui)
    spark = {"Spark UI": spark_ui} if spark_ui else {}
    assert released == [{"kafka": "127.0.0.1:1"} | spark | {"logs": "/runs/x"}]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "\nstack cafe0001 stays up:\n"
        "  kafka          127.0.0.1:1\n"
        f"{line}"
        "  logs           /runs/x\n"
        "  `devkit status` shows it, `devkit logs -f` follows it, `devkit down` ends it\n"
    )


def test_logs_are_found_from_any_directory(here: Path) -> None:
    released: list[Mapping[str, str]] = []
    guardian = cast(Guardian, SimpleNamespace(run_id="cafe0001", release=released.append))
    keep_stack(cast(Stack, SimpleNamespace(addresses=dict)), guardian, Path("runs/x"))
    assert released == [{"logs": str(here / "runs/x")}]
