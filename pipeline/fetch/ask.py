"""A request that can be made again, for a probe."""

from dataclasses import dataclass, field

from pipeline.fetch.route import Route


@dataclass(frozen=True, slots=True)
class Ask:
    """Path and query below the endpoint, the `X-Request-Id`, and the wiki. `route` reads the answer's body; None when
    nothing is to be read in it.
    """

    path: str
    request_id: str
    rev_id: int = field(default=0, compare=False)
    route: Route | None = field(default=None, compare=False, repr=False)
    wiki_id: str = ""
