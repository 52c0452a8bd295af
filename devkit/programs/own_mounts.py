"""Runs a command that has files of the run in the place of files in `/etc`, in a mount namespace of its own.

    python -I -S own_mounts.py FILE TARGET [FILE TARGET …] -- COMMAND …

It imports nothing of the kit, so that it starts fast. The command has the same process id and the same user.
"""

import ctypes
import os
import sys
from pathlib import Path

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_FAILED = 126


def main(words: list[str]) -> int:
    """Returns only where the command could not be started."""
    end = words.index("--")
    files, targets, command = words[:end:2], words[1:end:2], words[end + 1 :]
    try:
        _enter_namespace()
        for file, target in zip(files, targets, strict=True):
            _mount(file, target, _MS_BIND)
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{error.strerror}: {error.filename}", file=sys.stderr)
    return _FAILED


def _enter_namespace() -> None:
    """A mount namespace alone needs root; with a user namespace any user may make one, where the system allows it."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        _unshare(_CLONE_NEWNS)
    except PermissionError:
        _unshare(_CLONE_NEWNS | _CLONE_NEWUSER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    # Else what is mounted here would show in the namespace of the whole machine.
    _mount(None, "/", _MS_REC | _MS_PRIVATE)


def _unshare(flags: int) -> None:
    _check(_libc().unshare(flags), "unshare")


def _mount(source: str | None, target: str, flags: int) -> None:
    source_bytes = None if source is None else os.fsencode(source)
    _check(_libc().mount(source_bytes, os.fsencode(target), None, ctypes.c_ulong(flags), None), f"mount on {target}")


def _check(result: int, what: str) -> None:
    """Raises OSError; its file name is the call that failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
