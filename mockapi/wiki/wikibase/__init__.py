"""A mock Wikibase: entities as RDF, drawn from (seed, entity, revision), in the shape of Wikibase's RDF dump format."""
