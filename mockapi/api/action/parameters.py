"""The types of parameters, and the reading of a request by them, with MediaWiki's words for what does not fit.

    Signature(prefix, parameters) ──read──> Arguments      rvprop=ids|size ──> many("prop") == ("ids", "size")

A value that is none of those allowed is an error where one is taken, and a warning where several are. A value that
MediaWiki has and the mock has not is the error `mock-not-implemented` in both cases, unless the mock is lenient.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Final

from mockapi.api.action.errors import (
    ApiError,
    bad_integer,
    bad_timestamp,
    bad_value,
    missing_parameter,
    not_implemented,
)
from mockapi.api.action.form import UNIT_SEPARATOR

if TYPE_CHECKING:
    from mockapi.api.action.call import Call

VALUES: Final = 50
VALUES_OF_BOTS: Final = 500
LARGEST: Final = 2**63 - 1

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_COMPACT_TIME: Final = re.compile(r"[0-9]{14}", re.ASCII)
_UNIX_TIME: Final = re.compile(r"[0-9]{1,13}", re.ASCII)
_ISO_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?", re.ASCII
)
_UNCLEAN: Final = (
    'The value passed for "{name}" contains invalid or non-normalized data. Textual data should be valid, '
    "NFC-normalized Unicode without C0 control characters other than HT (\\t), LF (\\n), and CR (\\r)."
)


class Kind(Enum):
    """`LIMIT` is an integer or `max`; a `FLAG` is true if it is there, whatever its value."""

    TEXT = "text"
    INTEGER = "integer"
    LIMIT = "limit"
    TIMESTAMP = "timestamp"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Parameter:
    """`allowed` are all values that there are; with `all_values` a `*` stands for each of them. An integer outside of
    `least` and `most` (`most_of_bots` for who has high limits) is moved to the nearest inside, with a warning.
    `several` are separated by `|`. `of_mediawiki` are the values that MediaWiki has, also those that are not allowed
    here. An `unimplemented` parameter is one that MediaWiki acts on, and the mock does not.
    """

    name: str
    kind: Kind = Kind.TEXT
    allowed: tuple[str, ...] = ()
    default: str | None = None
    several: bool = False
    all_values: bool = False
    required: bool = False
    least: int | None = None
    most: int | None = None
    most_of_bots: int | None = None
    deprecated: bool = False
    deprecated_values: frozenset[str] = frozenset()
    of_mediawiki: frozenset[str] = frozenset()
    unimplemented: bool = False
    unprefixed: bool = False

    @property
    def absent(self) -> "Argument":
        """The argument of a request that does not name it: the default, which is always one of the values allowed."""
        if self.kind is Kind.FLAG:
            return False
        if self.default is None:
            return None
        if self.several:
            return tuple(split(self.default))
        return int(self.default) if self.kind is Kind.INTEGER else self.default


WATCHLIST: Final = Parameter(
    "watchlist", allowed=("watch", "unwatch", "preferences", "nochange"), default="preferences"
)
"""What every write takes. There are no watchlists here."""

Argument = str | int | bool | datetime | tuple[str, ...] | tuple[int, ...] | None


@dataclass(frozen=True)
class Arguments:
    """What a module was given, by the parameter's name without its prefix."""

    prefix: str
    values: Mapping[str, Argument]
    sent: frozenset[str] = field(default_factory=frozenset)

    def text(self, name: str) -> str | None:
        """None when it was not given and has no default."""
        value = self.values[name]
        return value if isinstance(value, str) else None

    def integer(self, name: str) -> int | None:
        """None when it was not given."""
        value = self.values[name]
        return value if isinstance(value, int) else None

    def flag(self, name: str) -> bool:
        """Whether it was given."""
        return self.values[name] is True

    def moment(self, name: str) -> datetime | None:
        """None when it was not given."""
        value = self.values[name]
        return value if isinstance(value, datetime) else None

    def many(self, name: str) -> tuple[str, ...] | None:
        """The values, each once; None when it was not given and has no default."""
        value = self.values[name]
        return tuple(map(str, value)) if isinstance(value, tuple) else None

    def integers(self, name: str) -> tuple[int, ...] | None:
        """The numbers, each once; None when it was not given."""
        value = self.values[name]
        return tuple(map(int, value)) if isinstance(value, tuple) else None

    def full(self, name: str) -> str:
        """The name with its prefix, as clients know it."""
        return self.prefix + name


class Signature:
    """The parameters of a module, prepared for many requests, of which each names a few."""

    def __init__(self, prefix: str, parameters: Iterable[Parameter]) -> None:
        self.prefix = prefix
        self._by_name = {
            parameter.name if parameter.unprefixed else prefix + parameter.name: parameter for parameter in parameters
        }
        self._absent = {parameter.name: parameter.absent for parameter in self._by_name.values()}
        self._required = frozenset(full for full, parameter in self._by_name.items() if parameter.required)

    def read(self, call: "Call", module: str) -> Arguments:
        """The arguments of `module`. Raises ApiError for what cannot be read; warns in the result of what can hardly
        be.
        """
        form = call.form
        call.used.update(self._by_name)
        values, sent = self._absent.copy(), set()
        looked_at = self._required.union(form.values, form.arrays)
        try:
            for full, parameter in self._by_name.items():
                if full not in looked_at:
                    continue
                text = form.values.get(full)
                if text is None:
                    _check_absent(call, parameter, full)
                else:
                    sent.add(parameter.name)
                    values[parameter.name] = _read_argument(call, module, parameter, full, text)
        except ApiError as error:
            error.module = module
            raise
        return Arguments(self.prefix, values, frozenset(sent))


def _check_absent(call: "Call", parameter: Parameter, full: str) -> None:
    if parameter.kind is Kind.FLAG:
        return
    if full in call.form.arrays:
        call.result.warn("main", "unsupportedarray", f'Parameter "{full}" uses unsupported PHP array syntax.')
    if parameter.required:
        raise missing_parameter(full)


def _read_argument(call: "Call", module: str, parameter: Parameter, full: str, text: str) -> Argument:
    if parameter.unimplemented and not call.world.options.lenient:
        raise not_implemented(full)
    if parameter.kind is Kind.FLAG:
        if parameter.deprecated:
            _warn_deprecated(call, module, full)
        return True
    if parameter.required and not text and not parameter.allowed:
        raise missing_parameter(full)
    if full in call.form.mended and not (parameter.several and text.startswith(UNIT_SEPARATOR)):
        call.result.warn(module, "badutf8", _UNCLEAN.format(name=full))
    if parameter.deprecated:
        _warn_deprecated(call, module, full)
    if parameter.several:
        return _read_values(call, module, parameter, full, text)
    return _read_value(call, module, parameter, full, text)


def _read_values(
    call: "Call", module: str, parameter: Parameter, full: str, text: str
) -> tuple[str, ...] | tuple[int, ...]:
    words = tuple(dict.fromkeys(split(text)))
    if parameter.all_values and words == ("*",):
        words = parameter.allowed
    most = VALUES_OF_BOTS if len(words) > VALUES and call.high_limits else VALUES
    if len(words) > max(most, len(parameter.allowed)):
        raise ApiError(
            "toomanyvalues",
            f'Too many values supplied for parameter "{full}". The limit is {most}.',
            data={"parameter": full, "limit": most, "lowlimit": VALUES, "highlimit": VALUES_OF_BOTS},
        )
    if parameter.kind is Kind.INTEGER:
        return tuple(dict.fromkeys(integer(full, word) for word in words))
    unknown = [word for word in words if parameter.allowed and word not in parameter.allowed]
    if unknown:
        _refuse_unimplemented(call, parameter, full, unknown)
        noun = "value" if len(unknown) == 1 else "values"
        text = f'Unrecognized {noun} for parameter "{full}": {", ".join(unknown)}'
        call.result.warn(module, "unrecognizedvalues", text, {"values": unknown})
    for word in words:
        if word in parameter.deprecated_values:
            text = f'The value "{word}" to parameter "{full}" has been deprecated.'
            call.result.deprecate(module, text, f"{full}={word}")
    return tuple(word for word in words if word not in unknown)


def _read_value(call: "Call", module: str, parameter: Parameter, full: str, text: str) -> Argument:
    if parameter.allowed and text not in parameter.allowed:
        _refuse_unimplemented(call, parameter, full, [text])
        raise bad_value(full, text)
    match parameter.kind:
        case Kind.INTEGER:
            return in_range(call, module, full, integer(full, text), parameter.least, parameter.most)
        case Kind.LIMIT if text != "max":
            most = parameter.most_of_bots if call.high_limits else parameter.most
            return in_range(call, module, full, integer(full, text), parameter.least, most)
        case Kind.TIMESTAMP:
            return _read_moment(call, module, full, text)
        case _:
            return text


def _refuse_unimplemented(call: "Call", parameter: Parameter, full: str, unknown: Sequence[str]) -> None:
    known_to_mediawiki = [word for word in unknown if word in parameter.of_mediawiki]
    if known_to_mediawiki and not call.world.options.lenient:
        raise not_implemented(full, known_to_mediawiki, [word for word in parameter.allowed if word])


def _warn_deprecated(call: "Call", module: str, full: str) -> None:
    call.result.deprecate(module, f'The parameter "{full}" has been deprecated.', f"{module}&{full}")


def split(text: str) -> list[str]:
    """The values of a list; an empty text has none."""
    if text.startswith(UNIT_SEPARATOR):
        return text[1:].split(UNIT_SEPARATOR)
    return text.split("|") if text else []


def integer(full: str, text: str) -> int:
    """The number, which may have a sign. Raises ApiError."""
    value = int(text) if _INTEGER.fullmatch(text) else LARGEST + 1
    if not -LARGEST - 1 <= value <= LARGEST:
        raise bad_integer(full, text)
    return value


def in_range(call: "Call", module: str, full: str, value: int, least: int | None, most: int | None) -> int:
    """The value, or the bound that it is beyond, with a warning."""
    if (least is None or value >= least) and (most is None or value <= most):
        return value
    if least is not None and most is not None:
        bounds = f"between {least:,} and {most:,}"
    else:
        bounds = f"no less than {least:,}" if least is not None else f"no greater than {most:,}"
    call.result.warn(module, "outofrange", f'The value "{value}" for parameter "{full}" must be {bounds}.')
    return least if least is not None and value < least else most if most is not None else value


def _read_moment(call: "Call", module: str, full: str, text: str) -> datetime:
    if text in {"", "0"}:
        warning = (
            f'Passing "{text}" for timestamp parameter "{full}" has been deprecated. If for some reason you need to '
            'explicitly specify the current time without calculating it client-side, use "now".'
        )
        call.result.warn(module, "unclearnowtimestamp", warning)
    try:
        if text in {"now", ""} or not text.strip("0"):
            return call.now
        if _COMPACT_TIME.fullmatch(text):
            return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        if _UNIX_TIME.fullmatch(text):
            return datetime.fromtimestamp(int(text), UTC)
        moment = datetime.fromisoformat(text if _ISO_TIME.fullmatch(text) else "")
    except (ValueError, OverflowError):
        raise bad_timestamp(full, text) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
