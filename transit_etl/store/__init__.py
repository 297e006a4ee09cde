"""Shares raw answers and the lake with other hosts through an object store; the data folder is the spool."""
