"""Listeners that know Kafka's protocol: they can have a broker's clients see its errors, and pass all else unchanged.

A refused request does not reach the broker. An `ApiVersions` request of the same correlation id goes in its place, and
the refusal replaces its response: so responses keep the order of the requests, and a dead broker answers nothing.
"""
