"""A soak: random legal faults on every part under live traffic, and an audit once all of them have ended.

A seed and a length give a fault list, the fault list a scenario file, and the file is played as any other; so what a
soak found is repeated by its file alone. `drawn_faults` chooses the faults, `document` writes the file.
"""
