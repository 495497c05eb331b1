"""Measuring what is kept: open runs of a store, and runs that a what-if judged, as metrics of OpenTelemetry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from guardgraph.evidence.store import OpenRunStore
from guardgraph.evidence.what_if import WhatIf
from guardgraph.plain.errors import ConfigurationError
from guardgraph.world.telemetry import METRICS, Mishaps, load_meter

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

_NAMED = {item.name: item for item in METRICS}


def measure_open_runs(store: OpenRunStore, *, meter_provider: MeterProvider | None = None) -> None:
    """Have a gauge of a store's open runs: it reads the store whenever the application collects metrics.

    A store that cannot be read has no figure then. The meter is the process's own where no provider is given.

    Raises:
        ConfigurationError: the extra ``otel`` is not installed, or the store knows no open runs.
    """
    if not callable(getattr(store, "open_runs", None)):
        raise ConfigurationError(f"store: one with open_runs is required; given: {store!r:.80}")
    metric, mishaps = _NAMED["guardgraph.runs.open"], Mishaps()

    def observe_open_runs(options: CallbackOptions) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation

        with mishaps.contain():
            waiting = [run.waiting for run in store.open_runs()]
            counts = {"waiting": sum(waiting), "going": len(waiting) - sum(waiting)}
            return [Observation(count, {"guardgraph.state": state}) for state, count in counts.items()]
        return []

    load_meter(meter_provider).create_observable_gauge(metric.name, [observe_open_runs], metric.unit, metric.meaning)


def measure_what_if(judged: WhatIf, *, meter_provider: MeterProvider | None = None) -> None:
    """Count the runs of a what-if by what the candidate makes of them, such as `unknown`.

    Raises:
        ConfigurationError: the extra ``otel`` is not installed, or it is no what-if.
    """
    if not isinstance(judged, WhatIf):
        raise ConfigurationError(f"judged: what what_if returns is required; given: {judged!r:.80}")
    metric = _NAMED["guardgraph.what_ifs"]
    counter: Any = load_meter(meter_provider).create_counter(metric.name, metric.unit, metric.meaning)
    about = {"guardgraph.pattern": judged.graph.frame.catalogue.pattern}
    with Mishaps().contain():
        for kind, count in Counter(row.kind for row in judged.rows).items():
            counter.add(count, {**about, "guardgraph.judged": kind})
