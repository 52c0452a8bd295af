import socket

import pytest

from mockapi.errors import AddressError
from mockapi.server.server import bind


def test_a_port_in_use_is_told_with_what_else_to_do() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AddressError, match=f"127.0.0.1:{port}: .*; choose another --port, or 0 for a free one"):
            bind("127.0.0.1", port)


def test_an_address_of_another_machine_is_no_matter_of_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AddressError, match=r"192.0.2.1:0: .*; give --host an address of this machine"):
        bind("192.0.2.1", 0)  # RFC 5737: nobody's

    def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket.socket, "bind", unknown)
    with pytest.raises(AddressError, match=r"nowhere:0: .*; give --host an address of this machine"):
        bind("nowhere", 0)
