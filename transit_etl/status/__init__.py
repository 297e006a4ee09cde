"""What `transit-etl status` says: the facts of an installation as it is now, and the screen of them."""
