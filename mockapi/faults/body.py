"""Body: gives a revision another document, of an exact size, or settles its content coding.

The bytes come from `mockapi.wiki.pages`; this fault only says which revision gets which document, and its coding.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from located_config.size import Size
from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import OtherBody, Plan
from mockapi.rules.proof import unchanged
from mockapi.server.delivery import Effect
from mockapi.server.reply import Reply
from mockapi.values.drawn_size import DocumentSize, drawn_bytes
from mockapi.values.strict import Strict
from mockapi.wiki.pages.block import MAX_SIZE_BYTES, MIN_CHANGED_BYTES, Block, most_changed_bytes
from mockapi.wiki.pages.coding import Coding
from mockapi.wiki.pages.document import Shape
from mockapi.wiki.pages.fillers import Bomb, Noise

DEFAULT_CHANGED_BYTES: Final = 64 * 1024


class BodyChange(Strict):
    """Another body for a revision that exists.

    `size`: the whole document has exactly this number of bytes, up to 1 GiB; or a number drawn for the revision.
    Revision and parent then differ in `changed_bytes` in the middle (default: 64 KiB, less in a document too small for
    that). `bomb`: a document of that size that a coding makes a thousand times smaller; `incompressible`: one of which
    it leaves three quarters. `encoding` is used for a client
    that accepts it, for any with `force`; one that does not accept it gets what it gets without a rule: gzip if it
    accepts that. `identity` compresses for none.
    """

    size: DocumentSize | None = Field(
        default=None,
        description="Bytes of the document, exactly, up to 1 GiB, or how they are drawn for each revision.",
    )
    bomb: Size | None = Field(
        default=None,
        ge=0,
        le=MAX_SIZE_BYTES,
        description="Bytes of a document that compresses to about a thousandth, up to 1 GiB.",
    )
    incompressible: Size | None = Field(
        default=None,
        ge=0,
        le=MAX_SIZE_BYTES,
        description="Bytes of a document of which a coding leaves three quarters, up to 1 GiB.",
    )
    changed: Literal["one block"] = Field(
        default="one block", description="How a revision differs from its parent: in one block in the middle."
    )
    changed_bytes: Size | None = Field(
        default=None,
        ge=MIN_CHANGED_BYTES,
        description="Bytes of that block. Default: 64 KiB, less in a document that is too small for it.",
    )
    encoding: Literal["gzip", "br", "zstd", "deflate", "identity"] | None = Field(
        default=None,
        description="Content coding that is used if the client accepts it; `identity` compresses for no client.",
    )
    force: bool = Field(default=False, description="Whether `encoding` is used even if the client does not accept it.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        sizes = [name for name in ("size", "bomb", "incompressible") if getattr(self, name) is not None]
        if not sizes and self.encoding is None:
            raise PydanticCustomError(
                "body_form", "body without effect", {"hint": "give size, bomb, encoding or several of them"}
            )
        if len(sizes) > 1:
            hint = f"{sizes[-1]} is the size of its document"
            raise PydanticCustomError("body_form", f"both {' and '.join(sizes)}", {"hint": hint})
        if self.force and self.encoding in {None, "identity"}:
            raise PydanticCustomError("body_form", "force without a coding", {"hint": "add encoding, such as br"})
        if self.changed_bytes is not None:
            self._check_change(self.changed_bytes)
        return self

    @property
    def encoded(self) -> bool:
        """Whether it asks for a content coding."""
        return self.encoding not in {None, "identity"}

    def document(self, size_bytes: int | None) -> Shape | None:
        """What stands in place of the revision's document, of `size_bytes` or its own size; None for nothing."""
        if self.bomb is not None:
            return Bomb(self.bomb)
        if self.incompressible is not None:
            return Noise(self.incompressible)
        if size_bytes is None:
            return None
        return Block(size_bytes, min(self.changed_bytes or DEFAULT_CHANGED_BYTES, most_changed_bytes(size_bytes)))

    def _check_change(self, changed_bytes: int) -> None:
        if self.size is None:
            raise PydanticCustomError("body_form", "changed_bytes without size", {"hint": "give size, such as 20MiB"})
        if self.size.fixed is not None and changed_bytes > most_changed_bytes(self.size.fixed):
            raise PydanticCustomError(
                "changed_bytes",
                "changed_bytes {changed} does not fit into a document of {size} bytes",
                {
                    "changed": changed_bytes,
                    "size": self.size.fixed,
                    "hint": f"at most {most_changed_bytes(self.size.fixed)} bytes",
                },
            )


def apply(plan: Plan, body: BodyChange, draw: Draw) -> Plan:
    """Sets the body, replacing that of an earlier rule as a whole; a drawn size is settled."""
    size_bytes = None
    if body.size is not None:
        size_bytes = drawn_bytes(body.size, draw)
        if body.size.fixed is None:
            plan = replace(plan, draws={**plan.draws, "size_bytes": size_bytes})
    return replace(plan, body=OtherBody(body.document(size_bytes), body.encoding, body.force))


def coding(plan: Plan, accepts: Callable[[str], bool]) -> Coding | None:
    """How an answer that MediaWiki would compress goes out, given what the client `accepts`; None for not encoded.

    A header that is to name another coding than that of the bytes does so for every client.
    """
    if plan.delivery.plain:
        return None
    usual = _usual_coding(plan, accepts)
    if plan.delivery.coding != (usual or ""):
        return usual
    return "gzip" if usual is None else None


def _usual_coding(plan: Plan, accepts: Callable[[str], bool]) -> Coding | None:
    body = plan.body
    if body is not None and body.coding is not None:
        if body.coding == "identity":
            return None
        if body.force or accepts(body.coding):
            return body.coding
    return "gzip" if accepts("gzip") else None


def changes_body(body: OtherBody, reply: Reply, accepts: Callable[[str], bool], *, renders: bool) -> bool:
    """Whether `reply` has the document of `body`, as the answer to a request that `renders` one has, or its coding."""
    if body.document is not None and renders and reply.status == 200:
        return True
    usual = "gzip" if accepts("gzip") else "identity"
    return body.coding not in {None, usual} and (reply.header(b"content-encoding") or "identity") == body.coding


FAULT = Fault(
    name="body",
    group="body",
    summary="a document of an exact or drawn size, one that compresses to nothing or not, or another coding",
    docs=(
        "a document of exactly that size, 0 to 1 GiB, or of a drawn one (`{p50: 20KiB, p99: 1MiB}`); it differs from "
        "its parent in `changed_bytes`. `bomb: 1GiB` compresses to next to nothing, "
        "`incompressible: 20MiB` hardly at all. `encoding`: `gzip`, `br`, `zstd`, "
        "`deflate`, `identity`, where the client accepts it or by `force`"
    ),
    takes=BodyChange,
    example={"size": "20MiB", "encoding": "br"},
    apply=apply,
    inaction=unchanged(Effect.BODY, "no answer had that document or coding"),
)
