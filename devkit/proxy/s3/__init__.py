"""Listeners that pass an object store's requests on byte by byte, and can answer for it.

S3's signature covers Host, path, headers and the body's encoding. So neither head nor body is made anew: what the
client sent goes to the store as it came, its Host (the proxy's address) included, and `aws-chunked` bodies stay what
they are.
"""
