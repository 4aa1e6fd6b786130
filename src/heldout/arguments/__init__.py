"""What users pass in scikit-learn's terms, as our nouns: a target, scorers, folds, draws, a whole search."""
