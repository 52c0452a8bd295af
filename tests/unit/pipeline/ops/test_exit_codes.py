import errno
import os

import pytest

from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.exit_codes import exit_codes


@pytest.mark.parametrize(("error", "code"), [(PipelineError("gone"), 1), (RefusedError("gone"), 2)])
def test_a_failure_has_its_exit_code(error: PipelineError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, exit_codes():
        raise error
    assert (ended.value.code, capsys.readouterr().err) == (code, "error: gone\n")


def test_a_full_disk_below_what_is_printed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, exit_codes():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("error: standard output could not be written: No space left on device\n")


@pytest.mark.parametrize(
    "other", [BrokenPipeError(errno.EPIPE, "broken pipe"), OSError(errno.ENOSPC, "full", "some/file")]
)
def test_what_else_the_system_says_passes(other: OSError) -> None:
    with pytest.raises(OSError, match=r"broken pipe|full"), exit_codes():
        raise other
