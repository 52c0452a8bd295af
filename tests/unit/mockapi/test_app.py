import pytest

from mockapi.app import is_loopback


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_the_control_knows_its_own_machine(address: str, own: bool) -> None:
    assert is_loopback(address) is own
