"""A proxy of the kit in front of a part: it makes network, object store or broker misbehave, and says what it did.

    client ──▶ listener ──▶ connection ──▶ pipe to_server ──▶ upstream (broker, store, mock)
                               └────────── pipe to_client ◀──┘
    toxics of the listener act on its connections (`tcp`) or its requests (`s3`, `kafka`), also on those that are open

One process (`python -m devkit.proxy`) has any number of listeners, all on loopback, and is driven over HTTP by
`devkit.proxy.client.ProxyControl`. A toxic is one file in `toxics/` and one line in its registry. It counts what it
touched, delayed and dropped, and when first and last: the proof that it acted. To have both kinds before a store, put
a `tcp` listener in front of an `s3` listener; the same before a broker, with one of layer `kafka`.

Without a toxic, bytes go from one socket to the other in the callback that read them: 12 µs a round trip more, and
500 MB/s where loopback alone does 1,200 (2 cores, shared); an `s3` listener adds 0.15 ms a request. A pipe holds at
most `pipe.MOST_HELD_BYTES`, then it stops reading.
"""
