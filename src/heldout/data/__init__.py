"""Input data, checked and converted to arrays and tasks."""
