"""Pages: the bytes of a revision, from nothing but the seed and the catalog."""
