from mockapi.pages.block import Block, block_parts
from mockapi.wiki.located import Located


def render_block(seed: int, located: Located, block: Block) -> bytes:
    """The whole document."""
    return b"".join(block_parts(seed, located, block))
