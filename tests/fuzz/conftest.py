"""The generators and the oracle are modules beside the tests, under the same names for ``repeat.py``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
