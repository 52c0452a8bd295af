"""The IRIs that munging, shared triples and deletes know, as terms of N-Triples."""

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
RDFS_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
SKOS_PREF_LABEL = "<http://www.w3.org/2004/02/skos/core#prefLabel>"
OWL_SAME_AS = "<http://www.w3.org/2002/07/owl#sameAs>"

SCHEMA_NAME = "<http://schema.org/name>"
SCHEMA_VERSION = "<http://schema.org/version>"
SCHEMA_DATE_MODIFIED = "<http://schema.org/dateModified>"
SCHEMA_ABOUT = "<http://schema.org/about>"
SCHEMA_ARTICLE = "<http://schema.org/Article>"

ONTOLEX_LEXICAL_FORM = "<http://www.w3.org/ns/lemon/ontolex#lexicalForm>"
ONTOLEX_SENSE = "<http://www.w3.org/ns/lemon/ontolex#sense>"

WIKIBASE_PREFIX = "<http://wikiba.se/ontology#"
WIKIBASE_ITEM = "<http://wikiba.se/ontology#Item>"
WIKIBASE_LEXEME = "<http://wikiba.se/ontology#Lexeme>"
WIKIBASE_FORM = "<http://wikiba.se/ontology#Form>"
WIKIBASE_SENSE = "<http://wikiba.se/ontology#Sense>"
WIKIBASE_STATEMENT = "<http://wikiba.se/ontology#Statement>"
WIKIBASE_REFERENCE = "<http://wikiba.se/ontology#Reference>"
WIKIBASE_WIKI_GROUP = "<http://wikiba.se/ontology#wikiGroup>"
