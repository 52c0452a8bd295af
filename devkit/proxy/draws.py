"""Random numbers as a pure function of what they are drawn for, so that a run can be repeated."""

import hashlib


def uniform(*parts: object) -> float:
    """A number in the open interval (0, 1) that depends on the text of `parts`, in their order."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return ((int.from_bytes(digest, "big") >> 11) + 0.5) / (1 << 53)
