"""What is seen of a run from outside: checkpoint, topics, mock journal, process table, logs; and the delivery audit."""
