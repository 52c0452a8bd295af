import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from mockapi.wiki.pages.coding import Coding

Decode = Callable[[Coding, bytes], bytes]


@pytest.fixture(scope="session")
def decode() -> Decode:
    """Undoes a content coding with a decoder that other clients use."""
    return decoded


def decoded(coding: Coding, data: bytes) -> bytes:
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
