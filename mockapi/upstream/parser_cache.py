"""The wiki's parser cache: what was rendered once is not parsed again."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

MOST_REMEMBERED: Final = 250_000


class ParserCache:
    """Knows the renders that were finished, of the `limit` used last."""

    def __init__(self, limit: int = MOST_REMEMBERED) -> None:
        self._limit = limit
        self._rendered: OrderedDict[Hashable, None] = OrderedDict()

    def has(self, render: Hashable) -> bool:
        """Whether `render` is there; it counts as used now."""
        if render not in self._rendered:
            return False
        self._rendered.move_to_end(render)
        return True

    def put(self, render: Hashable) -> None:
        """Call it when the parse has finished; the render used longest ago makes room."""
        self._rendered[render] = None
        self._rendered.move_to_end(render)
        if len(self._rendered) > self._limit:
            self._rendered.popitem(last=False)
