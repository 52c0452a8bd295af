"""Faults by the interface of the broker itself: its topics, quotas, leaders and replicas."""
