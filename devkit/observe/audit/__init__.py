"""The delivery audit: every input event against its expected fate and what the pipeline emitted.

An event is known by its source position, which each record carries in its headers. What its output must contain is
worked out from the source event and the mock's pages (`devkit.observe.expected_output`), by code that shares nothing
with the pipeline's.
"""
