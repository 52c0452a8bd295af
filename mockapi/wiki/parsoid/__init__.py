"""A small renderer of wikitext, whose HTML looks like Parsoid's."""
