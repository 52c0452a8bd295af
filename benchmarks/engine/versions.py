"""Which packages' versions stand beside the figures of the engine's benches."""

PACKAGES = ("pyspark", "pyarrow", "aiohttp", "orjson", "pygit2", "uvicorn", "uvloop", "httptools")
