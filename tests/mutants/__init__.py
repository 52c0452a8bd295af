"""Switches the pipeline's rules off, one by one, and shows which integration test says so.

    copy of the tree ─▶ the plain tree passes ─▶ for each mutant: edit the copy ─▶ its test ─▶ verdict

A mutant is a rule as it would really get lost: some text of `pipeline/` replaced by other text. It is caught when its
test fails by the assertion that is about the rule, and not by an import error or a time that was over.
"""
