"""Checkpoints are strict in every test: only plain JSON may be read back from one."""

import os

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
