"""MediaWiki's Action API, `/w/api.php`.

    Form (query string and body) ──> action module ── arguments, token, rights ──> run ──> Result ──> JSON ──> Reply
                                          │
                                          └─ query: page set ──> prop, list and meta modules

What a request gets wrong is an `ApiError`, said in MediaWiki's words with status 200; what it gets slightly wrong is a
warning in the result. Modules are listed by hand in `registry.py` and `query/registry.py`.
"""
