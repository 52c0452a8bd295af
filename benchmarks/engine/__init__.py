"""The engine measured beside its peers: the same events, pages, broker and mock for all, in turns."""
