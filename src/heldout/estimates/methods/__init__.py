"""Methods: from evidence to an estimate, one a file."""
