"""The wiki behind the proxy: a parser that works on a number of pages at once, whether or not their
clients still wait.
"""
