"""Which configuration file is that of the `apply` of a running stack."""

import os
from pathlib import Path

import pytest

from devkit.debug.apply_lag import apply_config

OF_APPLY, OF_A_JOB = '{"apply": {}}', '{"job": "rdf-resolve"}'


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"stack/apply/pipeline.yaml": OF_APPLY}, "stack/apply/pipeline.yaml"),
        ({"stack/pipeline.yaml": OF_A_JOB}, None),
        (
            {
                "events.jsonl": "",
                "incident/pipeline.yaml": OF_A_JOB,
                "incident/writer/pipeline.yaml": OF_APPLY,
                "fixed/pipeline.yaml": OF_A_JOB,
                "fixed/writer/pipeline.yaml": OF_APPLY,
                "fixed/other/pipeline.yaml": OF_A_JOB,
            },
            "fixed/writer/pipeline.yaml",
        ),
        # Without a timeline the directory beside the logs is that of other stacks.
        ({"other/apply/pipeline.yaml": OF_APPLY}, None),
    ],
)
def test_the_newest_file_with_its_section(tmp_path: Path, files: dict[str, str], found: str | None) -> None:
    for number, (name, text) in enumerate(files.items()):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (number, number))
    assert apply_config(tmp_path / "stack") == (None if found is None else tmp_path / found)
