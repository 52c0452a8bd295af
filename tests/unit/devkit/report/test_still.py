import threading
from datetime import timedelta

from devkit.report.still import still


def test_it_says_so_again_and_again_until_it_is_over() -> None:
    lines: list[str] = []
    twice = threading.Event()

    def say(text: str) -> None:
        lines.append(text)
        if len(lines) == 2:
            twice.set()

    with still(say, "Kafka has not answered", every=timedelta(microseconds=1)):
        assert twice.wait(60)
    over = len(lines)
    assert all(text.startswith("Kafka has not answered, ") for text in lines)
    assert [thread for thread in threading.enumerate() if thread.name == "still"] == []
    assert len(lines) == over


def test_what_is_quick_is_not_spoken_of() -> None:
    lines: list[str] = []
    with still(lines.append, "Kafka has not answered"):
        pass
    assert lines == []
