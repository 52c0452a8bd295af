"""Observation of a run from outside: checkpoint, topics, mock journal, processes, logs; and the delivery audit."""
