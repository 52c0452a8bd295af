"""A configuration file; the refusals of files that are text are in tests/unit/golden/configuration_files.txt."""

from pathlib import Path

import pytest

from pipeline.config.config_file import load_config
from pipeline.errors import RefusedError

LEAST = """\
source: {bootstrap_servers: "127.0.0.1:1"}
sink: {bootstrap_servers: "127.0.0.1:1"}
mediawiki:
  endpoint: http://127.0.0.1:1
checkpoint: unused
"""


def test_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(LEAST + "fetch: {deadline: 30s}\n")
    config = load_config(file)
    assert config.source.bootstrap_servers == "127.0.0.1:1"
    assert config.fetch.deadline.total_seconds() == 30


@pytest.mark.parametrize(("content", "problem"), [(b"a: \xff\xfe\n", "not UTF-8 text: "), (b"a: \x00\n", "not YAML: ")])
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_bytes(content)
    with pytest.raises(RefusedError, match=f"^{file}:.*{problem}"):
        load_config(file)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"missing\.yaml: cannot be read: No such file"):
        load_config(tmp_path / "missing.yaml")
    with pytest.raises(RefusedError, match="cannot be read: Is a directory"):
        load_config(tmp_path)
