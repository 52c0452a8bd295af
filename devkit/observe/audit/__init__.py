"""The delivery audit: every input event against its expected fate and what left the pipeline.

An event is known by its source position, which each record carries in its headers. What its output must contain is
worked out here from the source event and the mock's truth, by code that shares nothing with the pipeline's.
"""
