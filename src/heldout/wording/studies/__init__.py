"""What is said of studies: one file a study, and how ours compare with what was published."""
