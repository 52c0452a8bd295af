"""Rows of plain text in columns as wide as their widest cell; the last one is as long as it is."""

from collections.abc import Iterator, Sequence


def columns(rows: Sequence[Sequence[str]], *, indent: str = "") -> Iterator[str]:
    """A line for each row; all have the same number of cells, and two spaces between them."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"{indent}{'  '.join(padded)}".rstrip()
