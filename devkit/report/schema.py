"""The JSON Schemas that stand in the repository, written from the models: `python -m devkit.report.schema`.

With `--extend ./my_fault.py --to DIRECTORY` they know what extensions add, and are written there instead.

`result.schema.json` and `series.schema.json` are for who reads what a run, or several, came to; the other two are for
editors, which then complete and check scenario files and pipeline configurations while they are written. They know
keys, types and units; what depends on several keys at once only `devkit scenario check` knows.
"""

import json
import sys
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from devkit.cli.options import extend_option
from devkit.errors import DevkitError
from devkit.report.result import Result
from devkit.report.run_series import Series
from devkit.scenario.editor_schema import scenario_schema
from located_config.schema import AsWritten
from pipeline.config.pipeline_config import PipelineConfig

_TOP = Path(__file__).parents[2]


def schemas() -> dict[Path, str]:
    """The text of each schema file."""
    models = {
        _TOP / "devkit/report/result.schema.json": _of(Result, "serialization"),
        _TOP / "devkit/report/series.schema.json": _of(Series, "serialization"),
        _TOP / "devkit/scenario/scenario.schema.json": scenario_schema(),
        _TOP / "pipeline/pipeline.schema.json": _of(PipelineConfig, "validation"),
    }
    dialect = {"$schema": GenerateJsonSchema.schema_dialect}
    return {path: json.dumps(dialect | schema, indent=2, ensure_ascii=False) + "\n" for path, schema in models.items()}


def _of(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True, mode=mode, schema_generator=AsWritten)


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
