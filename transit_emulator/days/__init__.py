"""What happens on a service date: what was planned, how the buses moved, what their stops listed."""
