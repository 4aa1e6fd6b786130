"""The simulations are modules beside the tests and scripts that one can run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
