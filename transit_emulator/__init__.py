"""The emulated upstream: serves the interface over HTTP, and knows what really happened."""
