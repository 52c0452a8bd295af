"""A triple store in this process: Oxigraph without its server."""

from typing import Any

import orjson
import pyoxigraph

from devkit.stack.parts.triple_store import TripleStore


class MemoryStore(TripleStore):
    """Asked and changed by the kit as a server is."""

    def __init__(self, *, union_default_graph: bool = False) -> None:
        super().__init__("q", "u", "q", "u")
        self.data = pyoxigraph.Store()
        self._union = union_default_graph

    def _select(self, query: str, timeout_s: float) -> dict[str, Any]:
        answer = self.data.query(query, use_default_graph_as_union=self._union)
        assert not isinstance(answer, pyoxigraph.QueryTriples)
        written = answer.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert written is not None
        document: dict[str, Any] = orjson.loads(written)
        return document

    def change(self, update: str) -> None:
        self.data.update(update)
