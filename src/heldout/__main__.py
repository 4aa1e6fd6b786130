"""``python -m heldout`` is the command ``heldout``."""

from heldout.cli import main

if __name__ == "__main__":
    main()
