"""The wiki's state behind the proxy: parser, replicas; the proxy's rate limits, and who is connected."""

from collections.abc import Callable, Sequence

from mockapi.clock import Later
from mockapi.rules.model import Rule
from mockapi.upstream.buckets import Buckets
from mockapi.upstream.parser import Parser
from mockapi.upstream.places import ConnectionPlaces
from mockapi.upstream.replicas import Replicas


class Upstream:
    """What answers of one world wait for: its parser, replicas, rate limits and connections."""

    def __init__(self, monotonic: Callable[[], float], later: Later) -> None:
        self.parser = Parser(monotonic, later)
        self.replicas = Replicas()
        self.buckets = Buckets(monotonic)
        self.places = ConnectionPlaces()

    def follow(self, rules: Sequence[Rule]) -> None:
        """Takes over what the effective `rules` say about capacities."""
        self.parser.follow(rules)
