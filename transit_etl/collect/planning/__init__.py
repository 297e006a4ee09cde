"""Decides which stop to ask about next: pure functions of what the answers said, without clock or file."""
