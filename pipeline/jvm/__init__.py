"""A JVM seen from outside: which there are, what one is asked to write down, and what stands in a heap dump."""
