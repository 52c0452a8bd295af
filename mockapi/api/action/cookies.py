"""The cookies of a request."""

from urllib.parse import unquote

from mockapi.server.request import Request


def cookies_of(request: Request) -> dict[str, str]:
    """Values by name, percent-decoded as PHP does; of a repeated name the first one counts."""
    cookies: dict[str, str] = {}
    for pair in request.headers.get("cookie", "").split(";"):
        name, equals, value = pair.strip().partition("=")
        if equals:
            cookies.setdefault(name, unquote(value.strip('"')))
    return cookies
