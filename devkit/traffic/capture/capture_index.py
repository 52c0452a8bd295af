"""What has to be known of all records of a capture before the first of them can be played; the events are not in it."""

from devkit.traffic.capture.capture_file import CapturedRecord
from devkit.traffic.capture.id_map import CapturedPages
from devkit.traffic.capture.pacing import Arrivals


class CaptureIndex:
    """Of the records that were `add`ed, in the order of the file."""

    def __init__(self) -> None:
        self.arrivals, self.pages = Arrivals(), CapturedPages()

    def add(self, line: int, record: CapturedRecord) -> None:
        """`line` is where it begins in the file."""
        came_ms = self.arrivals.add((record.topic, record.partition), record.timestamp_ms, line)
        self.pages.note(record.event, came_ms)
