"""Writes to a wiki: edits, moves, deletions, hidden revisions, kept in memory."""
