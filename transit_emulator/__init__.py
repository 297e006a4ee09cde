"""The upstream itself, served over HTTP, with known truth."""
