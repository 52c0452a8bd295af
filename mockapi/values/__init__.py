"""What people write into a rule as one value: a time, a size, a share, a place; and what all models are built on.

They know nothing of faults or rules. The flow is values <── faults <── rules.
"""
