import pytest

from tests.unit.devkit.cli.conftest import Devkit


@pytest.mark.parametrize(
    ("name", "hint"),
    [("pauze", "did you mean 'pause'?"), ("statsu", "did you mean 'status'?"), ("zzz", "`devkit faults` lists all")],
)
def test_a_name_that_is_no_faults(devkit: Devkit, name: str, hint: str) -> None:
    finished = devkit("faults", name)
    message = f"error: there is no fault '{name}', neither on a part nor of the mock\nhint: {hint}\n"
    assert (finished.code, finished.out, finished.err) == (2, "", message)


@pytest.mark.parametrize("name", ["pause", "status"])
def test_one_by_its_name(devkit: Devkit, name: str) -> None:
    finished = devkit("faults", name)
    assert (finished.code, finished.out.split()[0]) == (0, name)
