"""What all studies share: batches of repetitions, claims that results judge, pictures, pages and commands."""
