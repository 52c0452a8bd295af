"""The event bus: follows the mock's feed of changed pages, and publishes events as MediaWiki's EventBus does.

    mock ── /__mock/page-changes ──> event bus ── one record a change ──> source topics ──> pipeline

Mock and pipeline know nothing of each other. Each record says in its headers which change it is of, so the topics
themselves say how far the bus has come.
"""
