"""Counts how often any process opens a file, under any path, by inotify."""

import ctypes
import os
import struct
from pathlib import Path

from devkit.errors import StackError

_IN_OPEN, _IN_CLOSE_NOWRITE = 0x20, 0x10
_EVENT = struct.Struct("iIII")
_BUFFER = 1 << 16


class FileReads:
    """From when it is made until `count`, which ends it. Raises StackError where the system has no watch left."""

    def __init__(self, path: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        # Two equal events in a row are one for inotify: the closes keep the openings apart.
        watched = libc.inotify_add_watch(self._descriptor, os.fsencode(path), _IN_OPEN | _IN_CLOSE_NOWRITE)
        if watched < 0:
            error = os.strerror(ctypes.get_errno())
            if self._descriptor >= 0:
                os.close(self._descriptor)
            raise StackError(f"{path} cannot be watched: {error}", hint="raise fs.inotify.max_user_instances")

    def count(self) -> int:
        """A lower bound: two openings at the same moment may count as one."""
        opened = 0
        try:
            while data := os.read(self._descriptor, _BUFFER):
                offset = 0
                while offset < len(data):
                    _watch, mask, _cookie, length = _EVENT.unpack_from(data, offset)
                    opened += bool(mask & _IN_OPEN)
                    offset += _EVENT.size + length
        except BlockingIOError:
            return opened
        finally:
            os.close(self._descriptor)
        return opened
