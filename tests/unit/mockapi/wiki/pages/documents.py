"""Whole documents, and the content codings undone with the decoders that other clients use."""

import gzip
import zlib

import brotli
import zstandard

from mockapi.wiki.catalog import Located
from mockapi.wiki.pages.block import Block, block_parts
from mockapi.wiki.pages.coding import Coding


def render_block(seed: int, located: Located, block: Block) -> bytes:
    return b"".join(block_parts(seed, located, block))


def decode(coding: Coding, data: bytes) -> bytes:
    match coding:
        case "gzip":
            return gzip.decompress(data)
        case "deflate":
            return zlib.decompress(data)
        case "br":
            document: bytes = brotli.decompress(data)
            return document
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
