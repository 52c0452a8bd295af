"""A client that speaks bytes, and tells FIN from RST."""

import socket
from dataclasses import dataclass
from typing import Literal

DEADLINE_S = 30.0
REVISION = 28674
PAGE = f"/w/rest.php/v1/revision/{REVISION}/html"


@dataclass(frozen=True)
class Heard:
    """All bytes up to the end of the connection, and how it ended."""

    data: bytes
    end: Literal["FIN", "RST"]

    @property
    def head(self) -> bytes:
        """Up to the empty line, without it; all, when there is none."""
        return self.data.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name: value for name, _, value in (line.partition(": ") for line in lines)}


class Connection:
    """One connection, on which requests can follow each other."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S)

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, path: str = PAGE, *, method: str = "GET", body: bytes = b"", **headers: str) -> None:
        named = {"Host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body:
            named["Content-Length"] = str(len(body))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def answer(self) -> bytes:
        """One answer with a right Content-Length, or without a body; the connection goes on."""
        heard = b""
        while b"\r\n\r\n" not in heard:
            piece = self.socket.recv(1)
            if not piece:
                raise EOFError(heard)
            heard += piece
        missing = int(Heard(heard, "FIN").headers.get("content-length", "0"))
        body = b""
        while len(body) < missing:
            piece = self.socket.recv(missing - len(body))
            if not piece:
                raise EOFError(heard)
            body += piece
        return heard + body

    def rest(self) -> Heard:
        """All that comes until the connection ends."""
        heard = bytearray()
        try:
            while piece := self.socket.recv(65_536):
                heard += piece
        except ConnectionResetError:
            return Heard(bytes(heard), "RST")
        return Heard(bytes(heard), "FIN")


def heard(port: int, path: str = PAGE, *, method: str = "GET", **headers: str) -> Heard:
    """Asks once and listens until the server ends the connection."""
    with Connection(port) as connection:
        connection.ask(path, method=method, **headers)
        return connection.rest()
