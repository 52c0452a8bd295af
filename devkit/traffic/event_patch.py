"""Chosen events of which fields are set, added or removed: `patch: [{page: X, set: {performer.user_text: "…"}}]`.

What becomes of an event must be known. A field that decides that can be changed only together with the error type in
which the event then ends, in all arms or by arm. In an arm without a type it ends as its own fields say. Any other
field keeps its JSON type, so the event still fits its schema.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Annotated, Any, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from devkit.errors import UsageError
from pipeline.schemas import known_fields_validator

ErrorType = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]

DECISIVE = (
    "$schema",
    "meta",
    "changelog_kind",
    "page_change_kind",
    "dt",
    "wiki_id",
    "page",
    "prior_state",
    "revision.rev_id",
    "revision.rev_parent_id",
    "revision.rev_dt",
    "revision.is_content_visible",
    "revision.content_slots",
)
"""Fields by which a consumer finds the page, its revisions, and what it has to do."""


class Patch(BaseModel):
    """Fields that are set, added or removed in the edits of a named page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: str = Field(min_length=1, description="Title of one of the `pages`.", examples=["Huge"])
    edit: int | None = Field(
        default=None, ge=1, description="Which of its edits, from 1. Default: all of them.", examples=[1]
    )
    set: dict[str, JsonValue] = Field(
        default={},
        description="New values of fields that the event has, by the field's path, with dots between its parts.",
        examples=[{"performer.user_text": "A very long name"}],
    )
    add: dict[str, JsonValue] = Field(
        default={},
        description="Values of fields that the event does not have, by path; the object around the field is there.",
        examples=[{"comment": "A reason"}],
    )
    remove: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(
        default=(), description="Paths of fields that are removed.", examples=[["performer"]]
    )
    error: ErrorType | dict[str, ErrorType] | None = Field(
        default=None,
        description="Error type in which the event then ends, in all arms or by arm or role. Needed for fields that "
        "decide what becomes of it. In an arm that is not named, it ends as its changed fields say.",
        examples=["schema_violation", {"fixed": "schema_violation"}],
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        paths = [*self.set, *self.add, *self.remove]
        if not paths:
            raise ValueError("write set, add or remove")
        if twice := next((path for number, path in enumerate(paths) if path in paths[:number]), None):
            raise ValueError(f"{twice} is in two of set, add and remove; write it once")
        if self.error == {}:
            raise ValueError("error names no arm; write an error type, or leave it out")
        return self

    @model_validator(mode="after")
    def _known_end(self) -> Self:
        for path in (*self.set, *self.add, *self.remove):
            if isinstance(self.error, Mapping) and path in ("meta", "meta.id"):
                raise ValueError(f"{path}: by meta.id the arms' errors find the event; write one error type instead")
            if self.error is None and any(path == decisive or path.startswith(f"{decisive}.") for decisive in DECISIVE):
                raise ValueError(f"{path} decides what becomes of the event: say in `error` in which type it ends")
        return self

    def applied(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The event with the fields changed. Raises UnfitPatchError for a path that it does not have or, to add, has
        already, and for a value with which it does not end as expected.
        """
        patched = deepcopy(dict(event))
        for path in self.remove:
            inside, last = self._parent(patched, path)
            del inside[last]
        for path, value in self.add.items():
            inside, last = self._parent(patched, path, is_new=True)
            inside[last] = value
        for path, value in self.set.items():
            inside, last = self._parent(patched, path)
            if self.error is None and type(inside[last]) is not type(value):
                raise UnfitPatchError(
                    self,
                    f"{path} is {_named(inside[last])} in the event, and {value!r} is {_named(value)}",
                    hint="write a value of that type, or `error: schema_violation`",
                )
            inside[last] = value
        self._require_end(patched)
        return patched

    def _parent(self, patched: dict[str, Any], path: str, *, is_new: bool = False) -> tuple[dict[str, Any], str]:
        """The object around a field, and the field's name in it."""
        *above, last = path.split(".")
        inside: Any = patched
        for part in above:
            inside = inside.get(part) if isinstance(inside, dict) else None
        if not isinstance(inside, dict) or (last not in inside and not is_new):
            missing = ".".join(above) if is_new else path
            raise UnfitPatchError(
                self,
                f"an edit of page {self.page} has no field {missing}",
                hint=f"there are {', '.join(sorted(inside if isinstance(inside, dict) else patched))}",
            )
        if is_new and last in inside:
            raise UnfitPatchError(self, f"an edit of page {self.page} has a field {path}", hint="write it under `set`")
        return inside, last

    def _require_end(self, patched: Mapping[str, Any]) -> None:
        try:
            orjson.dumps(patched)
        except orjson.JSONEncodeError as error:
            raise UnfitPatchError(self, f"an edit of page {self.page} cannot be written as JSON: {error}") from error
        if self.error is not None:
            return
        for misfit in known_fields_validator().iter_errors(patched):
            raise UnfitPatchError(
                self,
                f"an edit of page {self.page} does not fit its schema: "
                f"{'.'.join(map(str, misfit.instance_path))}: {misfit.message}",
                hint="write a value that fits, or `error: schema_violation`",
            )


class UnfitPatchError(UsageError):
    """An event that a patch cannot be applied to, or that would not end as expected with it."""

    def __init__(self, patch: Patch, problem: str, *, hint: str | None = None) -> None:
        super().__init__(f"traffic.patch: {problem}", hint=hint)
        self.patch, self.problem = patch, problem


def patches_of(patches: Iterable[Patch], title: str, edit: int) -> list[Patch]:
    """The patches of one edit of a page, counted from 1, in their order."""
    name = title.replace("_", " ")
    return [patch for patch in patches if patch.page.replace("_", " ") == name and patch.edit in (None, edit)]


def _named(value: object) -> str:
    names = {str: "text", bool: "true or false", int: "a whole number", float: "a number", dict: "a mapping"}
    return names.get(type(value), type(value).__name__)
