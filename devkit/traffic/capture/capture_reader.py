"""Reads a capture line by line, so that of a large one no more than a line is held."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from devkit.errors import InvalidFileError, Problem, UsageError
from devkit.traffic.capture.capture_file import CapturedRecord, CaptureEnd, CaptureHeader
from devkit.traffic.capture.capture_writer import PART
from located_config.count import counted
from located_config.problem import in_line

_MOST_PROBLEMS = 10
_END = b'{"ended_by":'

M = TypeVar("M", bound=BaseModel)


class CaptureReader:
    """Goes through a file once: `records`, which checks all of it, then `header` and `end`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems: list[Problem] = []
        self.header: CaptureHeader
        self.end: CaptureEnd

    def records(self) -> Iterator[tuple[int, int, CapturedRecord]]:
        """Each record that is as it has to be, with the number of its line, and where that begins, in bytes.

        Raises UsageError where there is no such file, and at its end InvalidFileError that names each line that is
        wrong, and where it is unfinished.
        """
        header = end = None
        count = at = 0
        try:
            with self._path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if len(self._problems) >= _MOST_PROBLEMS:
                        break
                    if number == 1:
                        header = self._parsed(CaptureHeader, line, number)
                        if header is None:
                            break  # what follows is of another format
                    elif line.startswith(_END):
                        end = self._parsed(CaptureEnd, line, number)
                    elif line.strip() and (record := self._parsed(CapturedRecord, line, number)) is not None:
                        count += 1
                        yield number, at, record
                    at += len(line)
        except OSError as error:
            hint = "`devkit capture` makes one; the path is relative to the scenario's file"
            raise UsageError(f"the capture {self._path} cannot be read: {error.strerror}", hint=hint) from error
        self._finish(header, end, count)

    def _finish(self, header: CaptureHeader | None, end: CaptureEnd | None, count: int) -> None:
        hint = "`devkit capture` makes such a file"
        if not self._problems and end is None:
            text = f"is unfinished: after {counted(count, 'record')} it has no line that closes it"
            self._problems.append(Problem(count + 2, 1, text))
            if self._path.suffix == PART:
                hint = f"if its capture was killed, `devkit capture --finish {self._path}` makes it whole"
        elif not self._problems and end is not None and end.counts.events != count:
            text = f"it has {counted(count, 'record')}, and its end counts {end.counts.events}"
            self._problems.append(Problem(count + 2, 1, f"counts.events: {text}; part of the file may be missing"))
        if self._problems or header is None or end is None:
            raise InvalidFileError(self._path, self._problems or [Problem(1, 1, "is empty")], hint=hint)
        self.header, self.end = header, end

    def _parsed(self, model: type[M], line: bytes, number: int) -> M | None:
        try:
            return model.model_validate(document := orjson.loads(line.rstrip(b"\n")))
        except orjson.JSONDecodeError as error:
            self._problems.append(Problem(number, error.colno, f"is not JSON: {error.msg}"))
        except ValidationError as error:
            self._problems.append(Problem(number, 1, in_line(error, model, document)))
        return None


def records_at(path: Path, places: Iterable[int]) -> Iterator[CapturedRecord]:
    """The records whose lines begin at these places of a file that was checked, in their order.

    Raises UsageError where it is no longer that file.
    """
    try:
        with path.open("rb") as file:
            for place in places:
                file.seek(place)
                yield CapturedRecord.model_validate(orjson.loads(file.readline()))
    except OSError as error:
        raise UsageError(f"the capture {path} cannot be read: {error.strerror}") from error
    except (ValidationError, orjson.JSONDecodeError) as error:
        raise UsageError(f"the capture {path} has changed since it was checked", hint="repeat the command") from error
