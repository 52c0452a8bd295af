"""The clients of `client_program.py`, for who has none of them installed: our own, and the others."""

OURS = ("raw", "httptools", "aiohttp", "aiohttp igzip")
OTHERS = ("pycurl", "pyreqwest", "rnet", "primp", "impit", "curl_cffi", "niquests")
CLIENTS = (*OURS, *OTHERS)
