"""What workers call must be importable there: modules beside the tests are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
