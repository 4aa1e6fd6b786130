"""What is shared with the tests of heldout-papers."""

pytest_plugins = ["suite"]
