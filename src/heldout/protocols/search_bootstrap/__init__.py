"""The bootstrap of the whole search: searches on samples drawn with replacement, scored on the rows left out."""
