"""What the DAGs in `dags/` are made of: when they run, what their tasks call, who is told of a failure."""
