"""What other tools and files hold, as the nouns of heldout."""
