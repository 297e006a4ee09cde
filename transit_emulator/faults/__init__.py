"""What goes wrong with answers: which fault happens to which request, and what it does to it."""
