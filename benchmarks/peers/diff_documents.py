"""Documents as html-enrichment meets them, and those that a diff finds hard: pairs of before and after, by name."""

import random
from collections.abc import Callable

Lines = list[str]

_WORDS = ["".join(random.Random(at).choices("abcdefghijklmnopqrstuvwxyzéü", k=2 + at % 9)) for at in range(3_000)]
_MIB = 2**20


def document(name: str) -> tuple[bytes, bytes]:
    before, after = DOCUMENTS[name]()
    return _text(before), _text(after)


def _text(lines: Lines) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _page(size_bytes: int, line_bytes: int, seed: int = 1) -> Lines:
    words, lines, size = random.Random(seed), list[str](), 0
    while size < size_bytes:
        line = f'<p id="mw{len(lines)}">{" ".join(words.choices(_WORDS, k=max(1, line_bytes // 7)))}</p>'
        size += len(line.encode()) + 1
        lines.append(line)
    return lines


def _one_block(lines: Lines, length: int) -> tuple[Lines, Lines]:
    middle = len(lines) // 2
    return lines, [*lines[:middle], *(f"<p>new {at}</p>" for at in range(length)), *lines[middle + length :]]


def _scattered(lines: Lines, share: float) -> tuple[Lines, Lines]:
    choice = random.Random(2)
    return lines, [line.replace(">", " class='new'>", 1) if choice.random() < share else line for line in lines]


def _shuffled(lines: Lines, pieces: int) -> tuple[Lines, Lines]:
    length = max(1, len(lines) // pieces)
    blocks = [lines[at : at + length] for at in range(0, len(lines), length)]
    random.Random(3).shuffle(blocks)
    return lines, [line for block in blocks for line in block]


def _table(rows: int) -> Lines:
    return [f"<tr><td>{row % 7}</td></tr>" for row in range(rows)]


def _colliding() -> tuple[Lines, Lines]:
    """16,384 lines of one hash, as git hashes: `hash * 33 ^ byte`, 64 bits."""
    lines, hash_ = [""], 5381
    for _ in range(14):
        seen: dict[int, str] = {}
        for pair in ((first, second) for first in range(33, 127) for second in range(33, 127)):
            value = (((hash_ * 33 % 2**64) ^ pair[0]) * 33 % 2**64) ^ pair[1]
            if value in seen:
                lines = [line + chosen for line in lines for chosen in (seen[value], bytes(pair).decode())]
                hash_ = value
                break
            seen[value] = bytes(pair).decode()
    return _shuffled(lines, len(lines))


DOCUMENTS: dict[str, Callable[[], tuple[Lines, Lines]]] = {
    "50 KB article, one block": lambda: _one_block(_page(50_000, 380), 3),
    "50 KB article, all lines": lambda: (_page(50_000, 380), _page(50_000, 380, seed=9)),
    "500 KB of long lines, 3 %": lambda: _scattered(_page(500_000, 4_000), 0.03),
    "5 MB, one block": lambda: _one_block(_page(5_000_000, 300), 5),
    "5 MB, 1 % of lines": lambda: _scattered(_page(5_000_000, 300), 0.01),
    "5 MB, 30 % of lines": lambda: _scattered(_page(5_000_000, 300), 0.3),
    "5 MB, all lines": lambda: (_page(5_000_000, 300), _page(5_000_000, 300, seed=9)),
    "5 MB, 20 blocks reordered": lambda: _shuffled(_page(5_000_000, 300), 20),
    "table of 100,000 rows, 1 %": lambda: _scattered(_table(100_000), 0.01),
    "table of 100,000 rows, shuffled": lambda: _shuffled(_table(100_000), 100_000),
    "lines of one hash, shuffled": _colliding,
    "17 MiB, one block": lambda: _one_block(_page(17 * _MIB, 300), 5),
    "17 MiB, all lines": lambda: (_page(17 * _MIB, 300), _page(17 * _MIB, 300, seed=9)),
    "17 MiB of short lines, shuffled": lambda: _shuffled(_page(17 * _MIB, 30), 1_000_000),
}
