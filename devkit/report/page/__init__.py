"""`report.html`: one self-contained page of a run, to be looked at, printed and sent on."""
