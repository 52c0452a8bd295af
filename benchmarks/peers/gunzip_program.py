"""What it costs to decode a page that came as gzip: `gunzip_program.py FILE` prints microseconds by library as JSON."""

import json
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

_GZIP = 31
_TIMES = 200
_BURSTS = 15


def _libraries() -> dict[str, Callable[[bytes], bytes]]:
    import cramjam
    import deflate
    from isal import isal_zlib
    from zlib_ng import zlib_ng

    return {
        "zlib": lambda data: zlib.decompress(data, _GZIP),
        "zlib-ng": lambda data: zlib_ng.decompress(data, _GZIP),
        "isal (igzip)": lambda data: isal_zlib.decompress(data, _GZIP),
        "cramjam (miniz)": lambda data: bytes(cramjam.gzip.decompress(data)),
        "deflate (libdeflate)": lambda data: bytes(deflate.gzip_decompress(data)),
    }


def main(data: bytes) -> dict[str, float]:
    libraries, took = _libraries(), {}
    expected = libraries["zlib"](data)
    for name, decompress in libraries.items():
        if decompress(data) != expected:
            raise RuntimeError(f"{name} gives something else")
        bursts = []
        for _ in range(_BURSTS):
            begun = time.process_time()
            for _ in range(_TIMES):
                decompress(data)
            bursts.append(time.process_time() - begun)
        took[name] = round(min(bursts) / _TIMES * 1e6, 1)
    return took


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]).read_bytes())))
