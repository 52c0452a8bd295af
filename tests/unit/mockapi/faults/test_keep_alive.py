from mockapi.faults.registry import FAULTS
from mockapi.server.delivery import KeepAlive
from tests.unit.mockapi.faults.planned import delivery, problem


def test_how_many_answers_a_connection_carries() -> None:
    assert delivery({"keep_alive": 3}).keep_alive == KeepAlive(3, announced=False)
    assert delivery({"keep_alive": {"requests": 1, "announce": True}}).keep_alive == KeepAlive(1, announced=True)


def test_at_least_one() -> None:
    assert "greater than or equal to 1" in problem({"keep_alive": 0})


def test_which_request_is_the_last_is_up_to_the_client() -> None:
    assert not FAULTS["keep_alive"].deterministic
