"""The user's own faults, expectations, kinds of programs and jobs: see `located_config.extension`.

The kit loads all of them, as it checks what a scenario says. The mock gets those with faults of the mock, the pipeline
those with jobs: neither needs the kit.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from devkit.errors import UsageError
from devkit.yaml_input import refused
from located_config import extension
from located_config.extension import ExtensionError, load_extension
from located_config.problem import Problem
from located_config.registry import Kind, additions

KEY = "extend"
GROUPS = ("enrichment_devkit.extensions", "enrichment_mockapi.extensions", "enrichment_pipeline.extensions")
"""The entry points of installed packages."""


def load_extensions(written: Sequence[str] = ()) -> None:
    """Those of installed packages, of the environment, and those written on the command line. Raises UsageError."""
    try:
        extension.load_extensions(GROUPS, written)
    except ExtensionError as error:
        raise UsageError(f"{error}", hint=error.hint) from error


def load_extensions_of(path: Path, document: CommentedMap) -> None:
    """Those that a file names in `extend`, relative to itself. Raises InvalidFileError with the place of each failure.

    What is no list of texts is left to the file's model to refuse.
    """
    load_extensions()
    written = document.get(KEY)
    problems = []
    for number, module in enumerate(written if isinstance(written, CommentedSeq) else ()):
        try:
            if isinstance(module, str):
                load_extension(module, path.absolute().parent)
        except ExtensionError as error:
            problems.append(Problem((KEY, number), f"{error}", error.hint))
    if problems:
        raise refused(path, document, problems)


def require_here(kind: Kind, names: Iterable[str], *, where: str) -> None:
    """Raises UsageError when one of the names is of an extension, as `where`, an image of the project's own, it is not
    known.
    """
    added = {addition.name: addition.place for addition in additions(kind)}
    for name in names:
        if name in added:
            raise UsageError(
                f"{kind} {name!r} is added at {added[name]}, and {where} does not have that file",
                hint="use `--stack embedded`",
            )
