"""What holds for all tests."""

from hypothesis import settings

# Hypothesis' deadline for an example is an assertion on time, and fails where the machine is busy.
settings.register_profile("no timing", deadline=None)
settings.load_profile("no timing")
