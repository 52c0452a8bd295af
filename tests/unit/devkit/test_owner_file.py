from pathlib import Path

import pytest

from devkit.owner_file import write_for_owner


@pytest.mark.parametrize("mode", [None, 0o644])
def test_the_owner_alone_may_read_it(tmp_path: Path, mode: int | None) -> None:
    file = tmp_path / "pipeline.yaml"
    if mode is not None:
        file.write_text("something that was longer before")
        file.chmod(mode)
    write_for_owner(file, b"password: x")
    assert file.read_bytes() == b"password: x"
    assert file.stat().st_mode & 0o777 == 0o600
