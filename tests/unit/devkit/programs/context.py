"""What a program is started with, made of values, and the values of a configuration."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from devkit.docker.access import EngineImage
from devkit.guardian import Guardian
from devkit.programs.program_context import ProgramContext
from devkit.stack.stack import Stack


def program_context(directory: Path, *, image: EngineImage | None = None, **given: Any) -> ProgramContext:
    """Nothing of it runs; `directory` is the guardian's as well, `image` is the stack's."""
    store = SimpleNamespace(endpoint="http://127.0.0.1:1", credentials=lambda: {"AWS_REGION": "here"})
    guardian = SimpleNamespace(directory=directory, run_id="cafe")
    stack = cast(Stack, SimpleNamespace(object_store=store, image=image))
    return ProgramContext(cast(Guardian, guardian), stack, "fixed", directory, directory / "logs", **given)


def leaves_of(tree: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Each value of a configuration with the keys that lead to it."""
    leaves: list[tuple[tuple[str, ...], Any]] = []
    for key, value in tree.items():
        leaves += leaves_of(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]
    return leaves
