"""The long versions of what the ordinary suite tries for seconds: `make soak` runs them, and keeps their figures."""

import os

collect_ignore_glob = [] if os.environ.get("ISTHMUS_SOAK") else ["test_*.py"]
