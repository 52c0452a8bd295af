from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.block import Block, block_parts


def render_block(seed: int, located: Located, block: Block) -> bytes:
    """The whole document."""
    return b"".join(block_parts(seed, located, block))
