"""Missing values: complete them several times, and pool the models fitted on each completion."""
