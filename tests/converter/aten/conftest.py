"""Keep torch quiet: its trace of every export would be recorded with each test."""

from __future__ import annotations

import logging
import warnings

logging.getLogger("torch").setLevel(logging.WARNING)
logging.getLogger("torch.__trace").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")
