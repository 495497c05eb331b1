"""What telemetry costs a run in CPU time: beside no telemetry, without and with a provider that makes spans.

Usage: ``python benchmarks/telemetry.py``. Prints ``name value`` lines: medians of ratios of rounds in one process.
"""

from __future__ import annotations

import time
from statistics import median

from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NoOpTracerProvider

from guardgraph import LiveWorld, TelemetryWorld, create_rag_agent

QUESTION = {"question": "What is the P1 first response target?"}
ROUNDS, RUNS = 31, 5


def main() -> None:
    """Print the ratios."""
    worlds = {
        "none": LiveWorld(),
        "noop": TelemetryWorld(tracer_provider=NoOpTracerProvider(), meter_provider=NoOpMeterProvider()),
        "sdk": TelemetryWorld(tracer_provider=TracerProvider(), meter_provider=MeterProvider()),
    }
    agents = {name: create_rag_agent(world=world) for name, world in worlds.items()}

    def measure_cpu_seconds(name: str) -> float:
        began = time.process_time()
        for _ in range(RUNS):
            agents[name].invoke(QUESTION)
        return time.process_time() - began

    rounds = [{name: measure_cpu_seconds(name) for name in agents} for _ in range(ROUNDS + 1)][1:]
    for name in ("noop", "sdk"):
        print(f"telemetry_{name}_ratio {median(taken[name] / taken['none'] for taken in rounds):.3f}")


if __name__ == "__main__":
    main()
