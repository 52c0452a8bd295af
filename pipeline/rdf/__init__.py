"""Wikibase entities as sets of triples: two revisions in, the mutation that makes the second of the first out.

    Turtle ─▶ triples ─▶ munge ─▶ revision_diff ─▶ chunks ─▶ mutation (rdf_change 2.0.0)
                                                    operation ─┘

Nothing here reads a clock, a network or Spark: the same operation and the same two documents give the same bytes.
The format of the documents: https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format
"""
