"""Tests import the program that they kill as a module, under the one name that it has in every process."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
