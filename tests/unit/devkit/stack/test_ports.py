import socket

import pytest

from devkit.errors import StackError
from devkit.stack.ports import LOOPBACK, claim_port, free_port


def test_a_wish_that_can_be_met_is_and_no_wish_is_any_free_port() -> None:
    port = free_port()
    assert claim_port(port, "Kafka") == port
    assert 1024 <= claim_port(None, "Kafka") <= 65535


def test_a_port_in_use_is_an_error_that_names_the_part() -> None:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(
            StackError, match=f"^port {port} for Kafka cannot be used: Address already in use$"
        ) as caught:
            claim_port(port, "Kafka")
    assert "leave the option out" in (caught.value.hint or "")
