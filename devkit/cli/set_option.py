"""`--set`, for each command that reads a scenario file."""

import click

set_option = click.option(
    "--set",
    "written",
    multiple=True,
    metavar="PLACE=VALUE",
    help="Set a value of the file otherwise, for example arms.fixed.batch.max_offsets=100; may be repeated. A place is "
    "named as messages about the file name it, a value is YAML.",
)
