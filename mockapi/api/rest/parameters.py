"""Query parameters as PHP reads them and MediaWiki checks them.

The last of two values counts. A parameter that a route does not know is ignored, and kept by redirects.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, quote_plus

from mockapi.api.rest.errors import RestError, bad_parameter
from mockapi.api.rest.path import clean
from mockapi.wiki.pages.flavor import FLAVORS, Flavor

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_LARGEST: Final = 2**63 - 1
_LONGEST_INTEGER: Final = 100
_SURELY_SHORT: Final = 19
_TRUE: Final = ("true", "t", "yes", "y", "on", "1")
_FALSE: Final = ("false", "f", "no", "n", "off", "0")


def integer(text: str) -> int | None:
    """A 64-bit integer in decimal; None for anything else."""
    if len(text) < _SURELY_SHORT and text.isascii() and text.isdecimal():
        return int(text)
    if not _INTEGER.fullmatch(text) or len(text) > _LONGEST_INTEGER:
        return None
    value = int(text)
    return value if -_LARGEST - 1 <= value <= _LARGEST else None


def bad_integer(name: str, value: str) -> RestError:
    """400 for a parameter that is no integer."""
    text = f'Invalid value "{value}" for integer parameter "{name}".'
    return bad_parameter("badinteger", "paramvalidator-badinteger", text, name=name, value=value, data=None)


def missing(name: str) -> RestError:
    """400 for a parameter that must be there."""
    text = f'The "{name}" parameter must be set.'
    return bad_parameter("missingparam", "paramvalidator-missingparam", text, name=name, value="", data=None)


def parse_query(query: str) -> Mapping[str, str]:
    """Names and values of a query in PHP's form: `a[]=x` is `a[0]`, and a dot or space in a name is `_`."""
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True, errors="replace"):
        base, bracket, rest = name.lstrip(" ").partition("[")
        named = base.replace(".", "_").replace(" ", "_") + bracket + rest
        if named.endswith("[]"):
            count = sum(known.startswith(named[:-1]) for known in parameters)
            named = f"{named[:-1]}{count}]"
        if named:
            parameters[named] = value
    return parameters


def query_text(parameters: Mapping[str, str]) -> str:
    """The parameters as a query again, with its question mark; empty for none."""
    pairs = (f"{_encoded(name)}={_encoded(value)}" for name, value in parameters.items())
    return "?" + "&".join(pairs) if parameters else ""


def redirect_parameter(parameters: Mapping[str, str]) -> bool:
    """Whether redirects of the wiki are followed. Raises RestError."""
    value = parameters.get("redirect")
    if value is None:
        return True
    if value != "no":
        raise _bad_value("redirect", clean(value))
    return False


def flavor_parameter(parameters: Mapping[str, str]) -> Flavor:
    """The flavour that `stash` and `flavor` together ask for. Raises RestError."""
    stash = _boolean("stash", clean(parameters.get("stash", "")))
    flavor = clean(parameters.get("flavor", "view"))
    if flavor not in FLAVORS:
        raise _bad_value("flavor", flavor)
    return "stash" if stash else flavor


def _boolean(name: str, value: str) -> bool:
    if value.lower() in _TRUE:
        return True
    if value == "" or value.lower() in _FALSE:
        return False
    *others, last = (f'"{word}"' for word in _TRUE)
    no = ", ".join(f'"{word}"' for word in _FALSE)
    text = (
        f'Invalid value "{value}" for boolean parameter "{name}". '
        f"Pass {', '.join(others)} and {last} for true, or {no} and the empty string for false."
    )
    raise bad_parameter("badbool", "paramvalidator-badbool", text, name=name, value=value, data=None)


def _bad_value(name: str, value: str) -> RestError:
    text = f'Unrecognized value for parameter "{name}": {value}.'
    return bad_parameter("badvalue", "paramvalidator-badvalue-enumnotmulti", text, name=name, value=value, data=[])


def _encoded(text: str) -> str:
    return quote_plus(text, safe="").replace("~", "%7E")
