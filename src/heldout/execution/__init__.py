"""Running a search: what to do next is pure, doing it is the loop."""
