"""Pages inside Airflow: reports, the state at this moment, data quality, the dictionary, the models."""
