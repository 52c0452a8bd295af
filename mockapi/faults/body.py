"""Body: gives a revision another document, of an exact size, or settles its content encoding.

The document's bytes come from `mockapi.pages.block`; this fault only says which revision gets it.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.plan import Plan
from mockapi.pages.block import Block
from mockapi.rules.model import Body, Do


def apply(plan: Plan, do: Do, draw: Draw) -> Plan:  # noqa: ARG001 - every fault is applied with the same arguments
    """Sets the body, replacing that of an earlier rule as a whole."""
    return plan if do.body is None else replace(plan, body=do.body)


def block(body: Body | None) -> Block | None:
    """The document of exact size that `body` asks for; None for the article as it is."""
    return Block(body.size, body.block_bytes) if body is not None and body.size is not None else None


def compresses(body: Body | None, *, accepted: bool) -> bool:
    """Whether the answer goes out gzip-encoded, given whether the client accepts that."""
    return accepted and (body is None or body.encoding != "identity")
