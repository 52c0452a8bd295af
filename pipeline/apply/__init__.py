"""Mutations into a triple store: chunks become mutations again, mutations a batch, a batch one SPARQL 1.1 Update.

    chunks ─▶ reassemble ─▶ accumulate ─▶ patch: the text of a request

The request also writes the next offset into the store, so that triples and position change together.
"""
