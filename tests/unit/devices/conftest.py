"""Makes the stand-in for the adb server importable by its name (tests have no packages)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
