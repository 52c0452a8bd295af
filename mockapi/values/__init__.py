"""What people write into a rule as one value beyond the plain quantities: a time or a size that is drawn, a place; and
what all models are built on.

They know nothing of faults or rules. The flow is values <── faults <── rules.
"""
