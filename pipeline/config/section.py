"""What the sections have in common: they are frozen and take no unknown key, and addresses are checked as they are
read.
"""

import re
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

_SERVER = re.compile(r"(?:[A-Z_]+://)?(?:\[[0-9A-Fa-f:.%]+\]|[^\s:/\[\],]+):(\d{1,5})", re.ASCII)
_LAST_PORT = 65_535
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PAGE = re.compile(r"https?://[^/?#]+\S*")
_MOST_CONTACT = 200


def require_servers(value: str) -> str:
    """`host:port`, or several with commas between. Raises ValueError."""
    for server in value.split(","):
        match = _SERVER.fullmatch(server.strip())
        if match is None or not 0 < int(match[1]) <= _LAST_PORT:
            raise ValueError(f"{server.strip()!r} is no broker's address, write host:9092 (ports: 1 to {_LAST_PORT})")
    return value


def repeated_servers(value: str) -> list[str]:
    """The addresses that `host:port,host:port` has more than once, in lower case: a host's name has no case."""
    addresses = [server.strip().rpartition("://")[2].lower() for server in value.split(",")]
    return sorted({address for address in addresses if addresses.count(address) > 1})


def require_url(value: str) -> str:
    """An URL with a host, and a port that there can be. Raises ValueError."""
    parts = urlsplit(value)
    if not parts.hostname or parts.port == 0:
        raise ValueError("it needs a host, and a port above 0 if it has one")
    return value


def require_contact(value: str) -> str:
    """A mail address, or the URL of a page that says who asks; it goes into a header. Raises ValueError."""
    fits = value.isascii() and value.isprintable() and len(value) <= _MOST_CONTACT and not set(value) & set(" ();")
    if not fits or not (_PAGE.fullmatch(value) or _MAIL.fullmatch(value)):
        raise ValueError("write a mail address, or the https:// URL of a page that says who runs the job")
    return value


def is_loopback(endpoint: str) -> bool:
    """Whether an URL names this machine by a loopback address, or as localhost."""
    host = urlsplit(endpoint).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_something(value: str) -> str:
    """Raises ValueError for a text with nothing in it."""
    if not value.strip():
        raise ValueError("it is empty")
    return value


KIB = 1024
MIB = 1024 * KIB
Topic = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
Servers = Annotated[str, AfterValidator(require_servers)]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+$"), AfterValidator(require_url)]
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]+)?$")]


class Section(BaseModel):
    """A section."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
