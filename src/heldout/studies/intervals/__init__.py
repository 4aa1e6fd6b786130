"""How often one-sided intervals hold the truth, and how tight they are, where the truth is known."""
