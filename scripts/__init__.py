"""The programs behind the Makefile: set-up, demonstration, and a local Airflow."""
