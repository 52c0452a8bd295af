"""A size as an option of a command line."""

import click

from located_config.size import parse_size


class SizeParam(click.ParamType[int]):
    """`4GiB` to bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """In bytes. Raises BadParameter for what `parse_size` does not take."""
        try:
            return parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
