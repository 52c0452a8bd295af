"""Hides secrets in the results, logs and configuration files of a run."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from located_config.redaction import redacted, redacted_text

_M = TypeVar("_M", bound=BaseModel)


def redact_model(model: _M) -> _M:
    """A copy with each secret hidden, to be written and shown."""
    return type(model).model_validate_json(json.dumps(redacted(json.loads(model.model_dump_json()))))


_SUFFIXES = (".log", ".out", ".yaml", ".conf")
_BLOCK_BYTES = 4 * 1024 * 1024


def redact_files(directory: Path) -> None:
    """Hide each secret in the logs of processes that have ended, and in the configuration files that they have read,
    below a run's directory. A file that cannot be written stays as it is.
    """
    for file in sorted(directory.rglob("*")):
        if file.suffix in _SUFFIXES and file.is_file() and not file.is_symlink():
            with contextlib.suppress(OSError):
                _redact_file(file)


def _redact_file(file: Path) -> None:
    changed = False
    aside = file.with_name(f".{file.name}.redacted")
    with aside.open("wb") as clean:
        for block in _blocks(file):
            text = block.decode(errors="surrogateescape")
            shown = redacted_text(text)
            changed = changed or shown != text
            clean.write(shown.encode(errors="surrogateescape"))
    if changed:
        aside.chmod(file.stat().st_mode)
        aside.replace(file)
    else:
        aside.unlink()


def _blocks(file: Path) -> Iterator[bytes]:
    """Of whole lines."""
    with file.open("rb") as lines:
        while block := lines.readlines(_BLOCK_BYTES):
            yield b"".join(block)
