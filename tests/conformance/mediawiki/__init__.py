"""Gets a real MediaWiki onto this machine and serves it on loopback, for the recorder; no test of every day needs it.

    debian.fetch ── packages ──> install ── a wiki with an empty database ──> serve ── base address

Nothing of MediaWiki is in this repository: Debian's packages are fetched into a cache directory when somebody records.
"""
