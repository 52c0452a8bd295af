"""`--set`, for each command that reads a scenario file."""

import click

set_option = click.option(
    "--set",
    "written",
    multiple=True,
    metavar="PLACE=VALUE",
    help="Replace a value of the file, for example arms.fixed.batch.max_offsets=100; may be repeated. PLACE is the "
    "path to the value, as error messages name it; VALUE is YAML.",
)
