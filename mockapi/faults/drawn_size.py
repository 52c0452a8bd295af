"""Draws the length of a document: fixed, log-normal or uniform, by a function of (seed, rule, key).

The attempt is left out, so that a document has the same length whenever it is fetched.
"""

from mockapi.draws import Draw, log_normal, uniform
from mockapi.pages.block import MAX_SIZE_BYTES
from mockapi.rules.drawn_size import DrawnSize


def drawn_bytes(size: DrawnSize, draw: Draw) -> int:
    """The length for what the request asks for."""
    if size.fixed is not None:
        return size.fixed
    u = uniform(draw.seed, draw.rule, draw.key, "size")
    if size.uniform is not None:
        low, high = size.uniform.from_, size.uniform.to
        return low + int(u * (high - low + 1))
    if size.p50 is None or size.p99 is None:
        raise AssertionError(size)
    most = MAX_SIZE_BYTES if size.cap is None else size.cap
    return min(round(log_normal(u, size.p50, size.p99)), most)
