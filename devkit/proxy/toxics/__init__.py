"""The toxics, one a file; `registry` has them all."""
