"""The parser of command lines: wrong arguments end with one line, as wrong files do, and name the nearest one there is.

The usage has as many lines as there are options, and the reason would stand below it.
"""

import argparse
from collections.abc import Sequence
from typing import NoReturn

from located_config.near import near_miss


class CommandParser(argparse.ArgumentParser):
    """`commands` are words that may stand first and are not parsed here."""

    def __init__(self, *, prog: str, description: str, epilog: str | None = None, commands: Sequence[str] = ()) -> None:
        super().__init__(prog=prog, description=description, epilog=epilog)
        self._commands = tuple(commands)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options. Wrong arguments end the process with exit code 2."""
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            word = unknown[0].partition("=")[0]
            long = [option for option in self._option_string_actions if option.startswith("--")]
            self.error(f"unknown argument {word}; {near_miss(word, [*long, *self._commands])}")
        return options

    def error(self, message: str) -> NoReturn:
        """Without the usage."""
        self.exit(2, f"mockapi: {message.removeprefix('argument ')}\n")
