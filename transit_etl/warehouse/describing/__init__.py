"""Says what the tables of the warehouse are, from the dbt project to the data dictionary and contract."""
