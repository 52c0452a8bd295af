"""A line now and then while something takes long that says nothing itself."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta


@contextlib.contextmanager
def still(say: Callable[[str], None], text: str, *, every: timedelta = timedelta(seconds=20)) -> Iterator[None]:
    """Says `text` and the seconds so far, from a thread of its own, as long as what is done within goes on."""
    over, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not over.wait(every.total_seconds()):
            say(f"{text}, {time.monotonic() - began:.0f} s so far")

    thread = threading.Thread(target=tell, name="still", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
