"""How soon a client that lives as long as the job, or as a run of the kit, tries a broker again that did not answer."""

RECONNECT_MAX_MS = 1_000
"""The longest wait, as Kafka's own clients have it. kafka-python's is 30 s: after a minute's outage it would wait on
for as long as its requests may take, beside a broker that is up."""
