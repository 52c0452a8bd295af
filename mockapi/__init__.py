"""A mock of MediaWiki's HTTP API with injectable faults; it runs by itself with ``python -m mockapi``."""
