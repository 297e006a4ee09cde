"""What happens on a service date: what is scheduled, how buses move, what stops list."""
