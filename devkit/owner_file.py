"""Files that their owner alone may read, as what a person has written there may be a password."""

import os
from pathlib import Path

_OWNER_ALONE = 0o600


def write_for_owner(path: Path, content: bytes) -> None:
    """Also where the file is there with another mode."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ALONE)
    with os.fdopen(number, "wb") as file:
        os.fchmod(number, _OWNER_ALONE)
        file.write(content)
