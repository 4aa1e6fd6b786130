"""Learning curves: all configurations at several training sizes, by repeated subsampling."""
