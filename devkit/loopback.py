"""HTTP to the parts that this machine runs."""

import requests


def loopback_session() -> requests.Session:
    """To be closed, or kept for the life of the part."""
    session = requests.Session()
    session.trust_env = False  # a proxy of the user's environment must not see loopback traffic
    return session
