"""`devkit`: prints what the kit finds, and turns outcomes and errors into exit codes.

0 reproduced and fixed · 1 refuted · 2 usage or invalid file · 3 inconclusive or harness error · 130 interrupted;
`--bisect` changes some of them.
"""

import errno
import os
import signal
import sys
import traceback
from types import FrameType

import click

from devkit.cli.capture import capture
from devkit.cli.compare import compare
from devkit.cli.edit import edit
from devkit.cli.exit_codes import ExitCodes
from devkit.cli.fault import fault
from devkit.cli.faults import faults
from devkit.cli.look import deferred, lag, tail, topics
from devkit.cli.ps import ps
from devkit.cli.report import report
from devkit.cli.scenario import scenario
from devkit.cli.soak import soak
from devkit.cli.stack import down, logs, resume, status, up
from devkit.cli.tools import clean, doctor, heal
from devkit.cli.traffic import traffic
from devkit.errors import INCONCLUSIVE, INTERRUPTED, DevkitError
from located_config.near import nearest


class _ReaderGoneError(Exception):
    """The output is not read any more."""


class _Group(click.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            ways = ", ".join(f"`devkit {way}`" for way in self._ways_to(args[0]))
            raise click.UsageError(f"{error.message} Did you mean {ways}?" if ways else error.message, ctx) from error

    def _ways_to(self, word: str) -> list[str]:
        """The commands of that name in a group; else what is nearly the same here, a group's plural with its list."""
        groups = {name: command for name, command in self.commands.items() if isinstance(command, click.Group)}
        if inside := [f"{name} {word}" for name, group in groups.items() if word in group.commands]:
            return inside
        near = nearest(word, self.commands)
        if near is None:
            return []
        return [f"{near} list"] if near in groups and word == f"{near}s" else [near]

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # Click would exit with 1, which here says that the scenario was refuted.
            raise _ReaderGoneError from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="enrichment-devkit", prog_name="devkit", message="%(prog)s %(version)s")
def cli() -> None:
    """Reproduce streaming incidents on this machine and prove the fix."""


_COMMANDS = (
    scenario,
    soak,
    up,
    down,
    status,
    ps,
    logs,
    traffic,
    edit,
    capture,
    fault,
    faults,
    topics,
    tail,
    lag,
    deferred,
    resume,
    report,
    compare,
    doctor,
    heal,
    clean,
)
for command in _COMMANDS:
    cli.add_command(command)


def main() -> None:
    """The console script."""
    # A run has a store of its own; what the user has set up for AWS must neither reach it nor be reached by it.
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    # A terminated command line must end its run in order, as an interrupted one does.
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    codes = ExitCodes()
    try:
        code = cli.main(prog_name="devkit", standalone_mode=False, obj=codes)
    except DevkitError as error:
        click.echo(error.render(), err=True)
        sys.exit(codes.of(error.exit_code))
    except click.ClickException as error:
        error.show()
        sys.exit(codes.of(error.exit_code))
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; nothing is left running", err=True)
        sys.exit(INTERRUPTED)
    except _ReaderGoneError:
        # Else Python complains of the same pipe once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(codes.of(INCONCLUSIVE))
    except OSError as error:
        hint = "free some space; `devkit clean` removes old runs" if error.errno == errno.ENOSPC else None
        click.echo(DevkitError(str(error), hint=hint).render(), err=True)
        sys.exit(codes.of(INCONCLUSIVE))
    except Exception:  # noqa: BLE001 — it is shown in full
        # A defect of the kit; Python would exit with 1, which here says that the scenario was refuted.
        traceback.print_exc()
        sys.exit(codes.of(INCONCLUSIVE))
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
