"""`action=query`: a page set, and the modules that tell of its pages, of the wiki and of who asks."""
