"""Fetching HTML from MediaWiki: one deadline for a record, bounded requests, errors that become error events."""
