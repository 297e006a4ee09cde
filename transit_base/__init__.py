"""What every package of the project is built on: files, errors for the user, quoting, names in files."""
