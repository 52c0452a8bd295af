"""A group of commands that answers an unknown one with the command that was most likely meant."""

import click

from located_config.near import near_miss


class CommandGroup(click.Group):
    """Click's own guess knows neither commands that are loaded when they are asked for, nor former names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Raises UsageError for an unknown command."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            raise click.UsageError(f"No such command {name!r}; {near_miss(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)
