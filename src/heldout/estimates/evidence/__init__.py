"""From a user's arrays to evidence: what is read, which rows and configurations count, and who won."""
