"""The time, or the size, that an option gives."""

from datetime import timedelta

from devkit.errors import UsageError
from located_config.duration import parse_duration
from located_config.quantity import QuantityError
from located_config.size import parse_size


def duration_of(option: str, text: str) -> timedelta:
    """Raises UsageError, which names the option."""
    try:
        return parse_duration(text)
    except QuantityError as error:
        raise UsageError(f"{option}: {error}") from error


def size_of(option: str, text: str) -> int:
    """In bytes. Raises UsageError, which names the option."""
    try:
        return parse_size(text)
    except QuantityError as error:
        raise UsageError(f"{option}: {error}") from error
