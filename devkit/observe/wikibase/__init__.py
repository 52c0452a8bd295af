"""What a triple store must have of a Wikibase's entities, by a model of the kit's own."""
