"""How a request to the store logs in: by HTTP Basic (RFC 7617), or by a header that a file holds.

    user:password@ in an URL        Basic, in requests to that URL
    apply.username, a password      Basic, in all requests
    apply.header_file               that header, in all requests

Files are read for each request, so a password or token that is renewed at its path needs no restart.
"""

import base64
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from pipeline.config.apply_config import Apply
from pipeline.errors import RefusedError

_HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([!-~](?:[ -~]*[!-~])?)", re.ASCII)


def without_user(url: str) -> str:
    """The URL as it is requested and shown."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class StoreLogin:
    """The login of each request."""

    def __init__(self, settings: Apply) -> None:
        self._settings = settings

    def headers(self, url: str) -> dict[str, str]:
        """The headers for a request to `url`, as the configuration has it; empty without a login. Raises RefusedError
        for a file that cannot be used.
        """
        settings = self._settings
        headers = self._header_of_file(settings.header_file) if settings.header_file is not None else {}
        parts = urlsplit(url)
        if parts.username is not None:
            return headers | _basic(unquote(parts.username), unquote(parts.password or ""))
        if settings.username is not None:
            return headers | _basic(settings.username, self._password())
        return headers

    def _password(self) -> str:
        file = self._settings.password_file
        if file is None:
            return self._settings.password or ""
        return _read("password_file", file)

    def _header_of_file(self, file: str) -> dict[str, str]:
        header = _HEADER.fullmatch(_read("header_file", file))
        if header is None:
            raise RefusedError(
                f"apply.header_file {file} does not hold one header in ASCII",
                hint="write a line such as `Authorization: Bearer …`",
            )
        return {header[1]: header[2]}


def _basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def _read(key: str, file: str) -> str:
    """Without the end of its line."""
    try:
        text = Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is no text"
        raise RefusedError(f"apply.{key} {file} cannot be read: {reason}") from None
    if not text.strip():
        raise RefusedError(f"apply.{key} {file} is empty")
    return text
