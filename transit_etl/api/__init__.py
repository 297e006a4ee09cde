"""Speaks the upstream's interface, versions 1 and 0: requests, the client and what an answer is worth."""
