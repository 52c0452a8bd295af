"""What ends `python -m mockapi` with one line on stderr; anything else is a defect and keeps its traceback.

MockapiError
├── InputFileError   exit 2: a catalog or rule file that cannot be used
├── BaseUrlError     exit 2: one base URL for several wikis
└── AddressError     exit 3: the address cannot be bound
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        0: "Ended by SIGTERM or SIGINT.",
        2: "Wrong arguments, or a file that cannot be used.",
        3: "The address is taken, or is not of this machine.",
    }
)
"""What the exit codes of `python -m mockapi` mean."""


class MockapiError(Exception):
    """What failed, with place, value and remedy in the message."""

    exit_code: ClassVar[int] = 3


class InputFileError(MockapiError):
    """A file that cannot be read, or whose content does not fit its model."""

    exit_code = 2


class BaseUrlError(MockapiError):
    """A base URL that does not fit the catalog."""

    exit_code = 2


class AddressError(MockapiError):
    """Host and port cannot be bound."""

    exit_code = 3
