"""A paying graph for LangGraph's server, whose process dies by SIGKILL at the moment that its environment names."""

import os
from pathlib import Path

from effect_runs import Moments
from payment_pattern import Bank, FileRecorder, payments

FOLDER = Path(os.environ["PAYING_IN"])
MOMENTS = Moments(int(os.environ["DIES_AT"]))
agent = payments(Bank(FOLDER / "bank.txt", MOMENTS).pay, recorder=FileRecorder(FOLDER / "runs.txt", MOMENTS))
