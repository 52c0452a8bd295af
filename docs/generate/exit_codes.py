"""How the commands end."""

from collections.abc import Mapping

from devkit.cli.exit_codes import SKIP, ExitCodes
from devkit.errors import EXIT_CODES as DEVKIT
from docs.generate.markdown import code, page, table
from mockapi.errors import EXIT_CODES as MOCKAPI
from pipeline.errors import EXIT_CODES as PIPELINE

_BISECT = f"""\
With `--bisect`, `devkit scenario run` ends with {SKIP} instead of {{skipped}}: [Bisect](../bisect.md) tells why."""


def exit_codes() -> str:
    """A table for each command line."""
    skipped = " and ".join(str(number) for number in DEVKIT if ExitCodes(bisect=True).of(number) == SKIP)
    return page(
        "Exit codes",
        "## devkit",
        _table(DEVKIT),
        _BISECT.format(skipped=skipped),
        "## python -m pipeline",
        _table(PIPELINE),
        "## python -m mockapi",
        _table(MOCKAPI),
    )


def _table(meanings: Mapping[int, str]) -> str:
    return table(("exit code", "what it means"), [(code(str(number)), text) for number, text in meanings.items()])
