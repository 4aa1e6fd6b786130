"""Where a search keeps what it has done."""
