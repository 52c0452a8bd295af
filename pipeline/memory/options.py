"""A size as an option of a command line."""

import click

from pipeline.quantity import parse_size


class SizeParam(click.ParamType[int]):
    """`4GiB` to bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            # On a command line a number of bytes is text, too.
            return parse_size(int(value) if isinstance(value, str) and value.isdecimal() else value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
