import pytest

from devkit.report.page.numbers import Unit, duration, figure, moment, number, tick


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (1, "1"), (1.004, "1"), (1.45, "1.45"), (1.5, "1.5"), (24.0004, "24"), (24.26, "24.3")),
        *((0.84, "0.84"), (0.0234, "0.023"), (0.0000012, "1.2e-06"), (123.4, "123"), (10_240.6, "10,241"), (-3, "-3")),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.0026, "2.6 ms"), (0.34, "340 ms"), (0.9999, "1 s"), (23.45, "23.4 s"), (600, "600 s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "unit", "text", "on_axis"),
    [
        (0.34, "seconds", "340 ms", "340 ms"),
        (0.64, "percent", "64 %", "64 %"),
        (16.5, "per second", "16.5/s", "16.5"),
        (1024, "MiB", "1,024 MiB", "1,024"),
        (3, "events", "3", "3"),
    ],
)
def test_units(value: float, unit: Unit, text: str, on_axis: str) -> None:
    assert (figure(value, unit), tick(value, unit)) == (text, on_axis)


def test_a_moment_is_read_to_the_tenth() -> None:
    assert (moment(9.02), moment(9.06), moment(31.26)) == ("9", "9.1", "31.3")
