"""Hadoop's file system, as far as the job asks it, played by a directory."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any


class Stream:
    def __init__(self, path: Path) -> None:
        self.text = path.read_text()
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Files:
    """What is asked of Hadoop's FileSystem."""

    def __init__(self) -> None:
        self.opened: list[Stream] = []
        self.asked = 0

    def exists(self, path: Path) -> bool:
        self.asked += 1
        return path.exists()

    def listStatus(self, path: Path) -> list[Any]:  # noqa: N802
        self.asked += 1
        return [
            SimpleNamespace(getPath=lambda one=one: SimpleNamespace(getName=lambda: one.name)) for one in path.iterdir()
        ]

    def listFiles(self, path: Path, recursive: bool) -> list[Any]:  # noqa: N802
        self.asked += 1
        found = path.rglob("*") if recursive else path.iterdir()
        return [SimpleNamespace(getPath=lambda one=one: one) for one in found if one.is_file()]

    def create(self, path: Path, overwrite: bool) -> Any:
        if path.exists() and not overwrite:
            raise FileExistsError(path)
        return path.open("wb")

    def open(self, path: Path) -> Stream:
        self.asked += 1
        self.opened.append(Stream(path))
        return self.opened[-1]


def spark(files: Files) -> Any:
    def path(text: str) -> Any:
        found = Path(text)
        return _Path(found, files)

    io = SimpleNamespace(IOUtils=SimpleNamespace(toString=lambda stream, _charset: stream.text))
    iterators = SimpleNamespace(RemoteIterators=SimpleNamespace(toList=list))
    hadoop = SimpleNamespace(fs=SimpleNamespace(Path=path), util=SimpleNamespace(functional=iterators))
    apache = SimpleNamespace(hadoop=hadoop, commons=SimpleNamespace(io=io))
    jvm = SimpleNamespace(org=SimpleNamespace(apache=apache))
    return SimpleNamespace(_jvm=jvm, _jsc=SimpleNamespace(hadoopConfiguration=lambda: None))


class _Path(type(Path())):  # type: ignore[misc]
    """A path that knows its file system, as Hadoop's do."""

    def __new__(cls, path: Path, files: Files) -> Any:
        made = super().__new__(cls, path)
        made.getFileSystem = lambda _configuration: files
        return made
