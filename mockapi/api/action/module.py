"""What an action and a module of `action=query` are made of."""

from collections.abc import Awaitable, Callable
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING

from mockapi.api.action.call import CacheMode, Call
from mockapi.api.action.parameters import Arguments, Parameter, Signature
from mockapi.api.action.tree import Tree
from mockapi.wiki.accounts import TokenKind

if TYPE_CHECKING:
    from mockapi.api.action.query.page_set import PageSet


@dataclass(frozen=True, slots=True)
class Action:
    """One value of `action`. With `token` the client has to show one of that kind, in the parameter `token`. `writes`
    keeps answers out of caches.
    """

    name: str
    parameters: InitVar[tuple[Parameter, ...]]
    run: Callable[[Call, Arguments], Awaitable[None]]
    prefix: InitVar[str] = ""
    posted: bool = False
    writes: bool = False
    token: TokenKind | None = None
    signature: Signature = field(init=False)

    def __post_init__(self, parameters: tuple[Parameter, ...], prefix: str) -> None:
        object.__setattr__(self, "signature", Signature(prefix, parameters))


@dataclass(frozen=True, slots=True)
class QueryModule:
    """One value of `prop`, `list` or `meta`: adds to the nodes of the page set, or to the members of `query`. `cache`
    says for whom its part of the answer may be kept.
    """

    name: str
    prefix: InitVar[str]
    parameters: InitVar[tuple[Parameter, ...]]
    run: "Callable[[Call, Arguments, PageSet, dict[str, Tree]], Awaitable[Continue]]"
    cache: Callable[[Call, Arguments], CacheMode]
    signature: Signature = field(init=False)

    def __post_init__(self, prefix: str, parameters: tuple[Parameter, ...]) -> None:
        object.__setattr__(self, "signature", Signature(prefix, parameters))


Continue = dict[str, str | int]
"""What a client has to send to get the rest of a module's answer, by parameter; empty when it has all."""


def public(call: Call, arguments: Arguments) -> CacheMode:  # noqa: ARG001 - one of the forms of `QueryModule.cache`
    """For a module whose part of the answer is the same for every user."""
    return "public"


def private(call: Call, arguments: Arguments) -> CacheMode:  # noqa: ARG001 - one of the forms of `QueryModule.cache`
    """For a module whose part of the answer depends on the user."""
    return "private"
