"""What is wrong with an input, as the control's answers have it: path, problem, hint."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from located_config import problem
from located_config.place import shown


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: `path` is like `rules[0].do.status`, `hint` says what to do if that is known."""

    path: str
    problem: str
    hint: str | None = None

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.problem}" + (f"; {self.hint}" if self.hint else "")


def problems(error: ValidationError, root: Any) -> list[Problem]:
    """The problems of `error`, which arose from validating a value as `root` (a model, or an annotation of models)."""
    return for_client(problem.problems(error, root))


def for_client(found: Iterable[problem.Problem]) -> list[Problem]:
    """For the body of an answer, each with its place in what the client sent."""
    return [Problem(shown(one.location), one.text, one.remedy) for one in found]
