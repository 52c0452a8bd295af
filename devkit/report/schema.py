"""The JSON Schemas that stand in the repository, written from the models: `python -m devkit.report.schema`.

With `--extend ./my_fault.py --to DIRECTORY` they know what extensions add, and are written there instead.

`result.schema.json` is for who reads a run's result; the other two are for editors, which then complete and check
scenario files and pipeline configurations while they are written. They know keys, types and units; what depends on
several keys at once only `devkit scenario check` knows.
"""

import json
import sys
from pathlib import Path

import click
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from devkit.cli.extend_option import extend_option
from devkit.errors import DevkitError
from devkit.report.result import Result
from devkit.scenario.model import Scenario
from located_config.schema import AsWritten
from pipeline.config.pipeline_config import PipelineConfig

_TOP = Path(__file__).parents[2]
_SCHEMAS: dict[Path, tuple[type[BaseModel], JsonSchemaMode]] = {
    _TOP / "devkit/report/result.schema.json": (Result, "serialization"),
    _TOP / "devkit/scenario/scenario.schema.json": (Scenario, "validation"),
    _TOP / "pipeline/pipeline.schema.json": (PipelineConfig, "validation"),
}


def schemas() -> dict[Path, str]:
    """The text of each schema file."""
    return {
        path: json.dumps(
            {"$schema": GenerateJsonSchema.schema_dialect}
            | model.model_json_schema(by_alias=True, mode=mode, schema_generator=AsWritten),
            indent=2,
            ensure_ascii=False,
        )
        + "\n"
        for path, (model, mode) in _SCHEMAS.items()
    }


@click.command()
@click.option(
    "--to", "directory", type=click.Path(path_type=Path, file_okay=False), help="Directory to write to instead."
)
@extend_option
def main(directory: Path | None, extend: tuple[str, ...]) -> None:
    """Write the schemas in the repository again, or those with extensions into another directory."""
    if extend and directory is None:
        raise click.UsageError("--extend needs --to DIRECTORY: the schemas of the repository know no extension")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    for path, text in schemas().items():
        place = path if directory is None else directory / path.name
        place.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path.relative_to(_TOP) if directory is None else place}")


if __name__ == "__main__":
    try:
        main()
    except DevkitError as error:
        click.echo(error.render(), err=True)
        sys.exit(error.exit_code)
