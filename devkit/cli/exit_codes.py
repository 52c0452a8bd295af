"""Exit codes as `git bisect run` wants them: 125 says that a commit can be called neither good nor bad.

Without that, an inconclusive run, or a commit whose kit does not know a key of the scenario, would count as bad.
"""

from dataclasses import dataclass

import click

from devkit.errors import INCONCLUSIVE, USAGE

SKIP = 125


@dataclass
class ExitCodes:
    """Passed to the commands by the console script, which asks it for the code to end with."""

    bisect: bool = False

    def of(self, code: int) -> int:
        """`code`, or 125 with `--bisect` for wrong usage and for an inconclusive run."""
        return SKIP if self.bisect and code in (USAGE, INCONCLUSIVE) else code


def _set_bisect(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.ensure_object(ExitCodes).bisect = value


# Eager, so that it holds for what is wrong with the other options as well.
bisect_option = click.option(
    "--bisect",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_set_bisect,
    help=f"For `git bisect run`: exit {SKIP} (skip) instead of {USAGE} or {INCONCLUSIVE}.",
)
