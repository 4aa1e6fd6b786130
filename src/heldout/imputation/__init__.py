"""Missing values: completing them several times, and pooling what was fitted on each completion."""
