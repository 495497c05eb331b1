"""Telemetry: a world whose runs, nodes and calls are spans and metrics of OpenTelemetry.

Names are those of the semantic conventions for generative AI where these have one, and begin with ``guardgraph.`` else.
Only OpenTelemetry's API is used: where the application has configured no provider, nothing is made and nothing is sent.
What was asked, answered and passed to tools is left out unless a deployment asks for it, and so is whatever a stop
reason says of a proposal: ``source_denied:<name>`` stands for every source. Telemetry that fails changes no run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from langgraph.errors import GraphInterrupt

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject, format_json_text, make_storable_json
from guardgraph.plain.log import log_failure
from guardgraph.plain.version import read_package_version
from guardgraph.state.outcome import Outcome
from guardgraph.world.call import Asked, Performed, SessionEnd, VisitBegun, VisitEnded, World
from guardgraph.world.chat_models import get_provider_name
from guardgraph.world.live import AroundWorld
from guardgraph.world.proposers import ModelProposer, name_call_target
from guardgraph.world.spending import is_model_call, read_told_usage, settle_call

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Meter, MeterProvider
    from opentelemetry.trace import Span, TracerProvider
    from opentelemetry.util.types import AttributeValue

SCOPE: Final = "guardgraph"  # the name of the instrumentation scope


class Metric(NamedTuple):
    """A metric."""

    name: str
    kind: str
    unit: str
    meaning: str


_OPERATION: Final = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")

METRICS: Final = (
    Metric("guardgraph.runs", "counter", "{run}", "runs that ended"),
    Metric("guardgraph.run.duration", "histogram", "s", "seconds for which a run was active"),
    Metric("guardgraph.guard.duration", "histogram", "s", "seconds that a guard took"),
    Metric("gen_ai.client.operation.duration", "histogram", "s", "seconds of a model's call, all attempts together"),
    Metric("gen_ai.client.token.usage", "histogram", "{token}", "tokens of a call, where the model says them"),
    Metric("guardgraph.cost", "counter", "1", "what models' calls cost, in the currency of the budget's prices"),
    Metric("guardgraph.shadows", "counter", "{run}", "runs that a shadow judged: `same`, `changed`, `unknown`"),
    Metric("guardgraph.what_ifs", "counter", "{run}", "runs of what-ifs that were given to `measure_what_if`"),
    Metric("guardgraph.runs.open", "observable gauge", "{run}", "open runs of a store: waiting, or going"),
)
"""Every metric."""


def load_meter(provider: MeterProvider | None) -> Meter:
    """Return guardgraph's meter."""
    try:
        from opentelemetry.metrics import get_meter
    except ImportError as error:
        raise _make_missing_error(error) from error
    return get_meter(SCOPE, read_package_version(), provider)


def _make_missing_error(error: ImportError) -> ConfigurationError:
    return ConfigurationError(f"telemetry: {explain_extra('otel')} ({error})")


class Mishaps:
    """Keeps what telemetry raises away from runs, and logs the first of it."""

    def __init__(self) -> None:
        self._lock, self._is_told = Lock(), False

    @contextmanager
    def contain(self) -> Iterator[None]:
        """Let nothing out that is raised in the block."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - providers and exporters are not ours
            with self._lock:
                told, self._is_told = self._is_told, True
            if not told:
                log_failure("telemetry failed; what fails after this is not logged", error, logging.WARNING)


class TelemetryWorld(AroundWorld):
    """A world whose runs, nodes and calls are spans and metrics.

    It wraps the world that makes the calls: around a `ResilientWorld` a call is one span, whatever attempts it took;
    inside of one, each attempt is.

    Args:
        world: that makes the calls; a `LiveWorld` when None.
        content: whether spans say what was asked, answered and passed to tools, as it is, with whatever is personal or
            secret in it.
        tracer_provider: of spans; None for the one that the application has set for the process.
        meter_provider: of metrics; likewise.

    Raises:
        ConfigurationError: the extra ``otel`` is not installed, or the world is none.
    """

    def __init__(
        self,
        world: World | None = None,
        *,
        content: bool = False,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        if not isinstance(content, bool):
            raise ConfigurationError(f"content: true or false is required; given: {content!r:.80}")
        super().__init__(world)
        self._telemetry = RunTelemetry(content, tracer_provider, meter_provider)

    def __repr__(self) -> str:
        return f"<TelemetryWorld around {self._world!r}>"

    @property
    def observer(self) -> RunTelemetry:
        """Who is told of the runs of every graph that has this world."""
        return self._telemetry

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls, each in a span; see `World.perform`."""
        with self._telemetry.enter_calls(asked) as calls:
            performed = self._world.perform(calls.asked, seconds)
            calls.end(performed)
        return performed

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls like `perform`, without blocking the event loop."""
        with self._telemetry.enter_calls(asked) as calls:
            performed = await self._world.aperform(calls.asked, seconds)
            calls.end(performed)
        return performed


class RunTelemetry:
    """Makes spans and metrics of what it is told of runs; see `TelemetryWorld`."""

    def __init__(
        self, content: bool, tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None
    ) -> None:
        try:
            from opentelemetry.trace import get_tracer
        except ImportError as error:
            raise _make_missing_error(error) from error
        self.content, self.mishaps = content, Mishaps()
        self.tracer = get_tracer(SCOPE, read_package_version(), tracer_provider)
        meter = load_meter(meter_provider)
        made: dict[str, Any] = {"counter": meter.create_counter, "histogram": meter.create_histogram}
        self._instruments: dict[str, Any] = {
            item.name: made[item.kind](item.name, item.unit, item.meaning) for item in METRICS if item.kind in made
        }

    def measure(self, metric: str, amount: float, attributes: Mapping[str, AttributeValue]) -> None:
        """Add to a counter, or record in a histogram."""
        instrument = self._instruments[metric]
        (instrument.add if hasattr(instrument, "add") else instrument.record)(amount, attributes)

    def open_session(self, agent: str, pattern: str) -> SessionTelemetry:
        """Return the session that begins now; its span begins with its first node."""
        return SessionTelemetry(self, agent, pattern)

    def enter_calls(self, asked: Sequence[Asked]) -> AbstractContextManager[CallsTelemetry]:
        """Return what calls that are made at once are made in."""
        is_of_person = any(item.call.kind == "person" for item in asked)  # the span of the node says that it waits
        return nullcontext(CallsTelemetry(self, asked)) if is_of_person else CallsTelemetry(self, asked).entered()


class SessionTelemetry:
    """The span of a session, and those of its nodes below it."""

    def __init__(self, telemetry: RunTelemetry, agent: str, pattern: str) -> None:
        from opentelemetry.context import get_current

        self._telemetry, self._agent, self._pattern = telemetry, agent, pattern
        self._span: Span | None = None
        self._began = time.time_ns()
        self._around: Context = get_current()
        self.mark: str | None = None

    @contextmanager
    def enter_visit(self, begun: VisitBegun) -> Iterator[Callable[[VisitEnded], None]]:
        """Let a node work in a span of its own."""
        from opentelemetry.context import attach, detach
        from opentelemetry.trace import set_span_in_context

        span = token = None
        with self._telemetry.mishaps.contain():
            run = self._span or self._begin_run(begun)
            attributes = {"guardgraph.node": begun.node, "guardgraph.kind": begun.kind, "guardgraph.phase": begun.phase}
            around = set_span_in_context(run, self._around)
            span = self._telemetry.tracer.start_span(f"{begun.kind} {begun.node}", around, attributes=attributes)
            token = attach(set_span_in_context(span, around))
        try:
            yield partial(self._describe_visit, span, begun)
        except GraphInterrupt:
            with self._telemetry.mishaps.contain():
                _set_attributes(span, {"guardgraph.waits": True})
            raise
        finally:
            with self._telemetry.mishaps.contain():
                if token is not None:
                    detach(token)
                if span is not None:
                    span.end()

    def _begin_run(self, begun: VisitBegun) -> Span:
        from opentelemetry.trace import Link

        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self._agent}
        attributes["guardgraph.pattern"] = self._pattern
        if begun.run_id:
            attributes["guardgraph.run_id"] = begun.run_id
        if self._telemetry.content and begun.thread is not None:
            attributes["gen_ai.conversation.id"] = begun.thread
        first = None if begun.first_mark is None else _read_mark(begun.first_mark)
        name, links = f"invoke_agent {self._agent}", () if first is None else [Link(first)]
        self._span = self._telemetry.tracer.start_span(
            name, self._around, attributes=attributes, links=links, start_time=self._began
        )
        context = self._span.get_span_context()
        if context.is_valid and self._span.is_recording():  # as W3C's traceparent has it
            self.mark = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
        return self._span

    def _describe_visit(self, span: Span | None, begun: VisitBegun, ended: VisitEnded) -> None:
        with self._telemetry.mishaps.contain():
            line = ended.line
            told = {f"guardgraph.{name}": line[name] for name in ("verdict", "to") if name in line}
            if "verdict" in line and ended.reason is not None:
                told["guardgraph.reason"] = ended.reason
            _set_attributes(span, told)
            if begun.kind == "guard":
                about = {"guardgraph.pattern": self._pattern, "guardgraph.node": begun.node}
                about["guardgraph.verdict"] = line.get("verdict", "stop")
                self._telemetry.measure("guardgraph.guard.duration", line.get("elapsed_ms", 0.0) / 1000, about)
            if self._telemetry.content and "given" in ended.update:
                _set_attributes(self._span, {"guardgraph.input": _write_text(ended.update["given"])})
            if "stop_reason" in ended.update:
                self._describe_ending(ended)

    def _describe_ending(self, ended: VisitEnded) -> None:
        result = {name: value for name, value in ended.update.items() if name != "log"}
        status, reason = str(result.get("status", "")), ended.reason or str(result["stop_reason"])
        _set_attributes(self._span, {"guardgraph.status": status, "guardgraph.stop_reason": reason})
        if self._telemetry.content:
            _set_attributes(self._span, {"guardgraph.result": _write_text(result)})
        about = {"guardgraph.pattern": self._pattern, "guardgraph.status": status}
        self._telemetry.measure("guardgraph.run.duration", ended.line.get("active", 0.0), about)
        self._telemetry.measure("guardgraph.runs", 1, {**about, "guardgraph.stop_reason": reason})

    def see_shadows(self, shadows: Mapping[str, JsonObject]) -> None:
        """Count what shadows make of the run."""
        with self._telemetry.mishaps.contain():
            for name, shadow in shadows.items():
                about = {"guardgraph.pattern": self._pattern, "guardgraph.shadow": name}
                self._telemetry.measure("guardgraph.shadows", 1, {**about, "guardgraph.judged": str(shadow["kind"])})

    def close(self, how: SessionEnd, error: BaseException | None) -> None:
        """End the span of the session."""
        with self._telemetry.mishaps.contain():
            if self._span is not None:
                _set_attributes(self._span, {"guardgraph.session.end": how})
                if how == "failed" and error is not None:
                    _mark_failed(self._span, type(error).__qualname__)
                self._span.end()


class CallsTelemetry:
    """Calls that are made at once, a span each."""

    def __init__(self, telemetry: RunTelemetry, asked: Sequence[Asked]) -> None:
        self._telemetry = telemetry
        self.asked = asked  # the calls, each to be made in its span
        self._spans: list[Span] = []

    @contextmanager
    def entered(self) -> Iterator[CallsTelemetry]:
        """Begin the spans, and end them whatever comes."""
        from opentelemetry.trace import SpanKind

        with self._telemetry.mishaps.contain():
            made = list[Asked]()
            for item in self.asked:
                name, attributes = _describe_call(item)
                kind = SpanKind.CLIENT if attributes.get("gen_ai.operation.name") == "chat" else SpanKind.INTERNAL
                span = self._telemetry.tracer.start_span(name, kind=kind, attributes=attributes)
                self._spans.append(span)
                if self._telemetry.content and span.is_recording():
                    _set_attributes(span, _describe_request(item))
                enter = partial(_enter_span, span, item.surroundings)
                made.append(replace(item, surroundings=enter) if span.is_recording() else item)
            self.asked = made
        try:
            yield self
        finally:
            for span in self._spans:
                with self._telemetry.mishaps.contain():
                    span.end()

    def end(self, performed: Sequence[Performed]) -> None:
        """Say what came of the calls."""
        for span, asked, done in zip(self._spans, self.asked, performed, strict=False):
            with self._telemetry.mishaps.contain():
                outcome = done.outcome
                failed = str(outcome.content["reason"]).partition(":")[0] if outcome.form == "failure" else None
                if span.is_recording():
                    _set_attributes(span, _describe_reply(asked, done))
                    for number, attempt in enumerate(done.attempts, 1):
                        reason = attempt.get("reason", "answered")
                        about: dict[str, Any] = {"number": number, "seconds": attempt["seconds"], "reason": reason}
                        span.add_event("attempt", {f"guardgraph.attempt.{name}": it for name, it in about.items()})
                    if failed is not None:
                        _mark_failed(span, failed)
                    if self._telemetry.content:
                        _set_attributes(span, _describe_content(asked, outcome))
                if is_model_call(asked.call):
                    self._measure_model_call(asked, done, failed)

    def _measure_model_call(self, asked: Asked, done: Performed, failed: str | None) -> None:
        measure, (_, named) = self._telemetry.measure, _describe_call(asked)
        about = {name: named[name] for name in _OPERATION}
        error = {} if failed is None else {"error.type": failed}
        measure("gen_ai.client.operation.duration", done.seconds, {**about, **error})
        for kind, tokens in zip(("input", "output"), read_told_usage(done.outcome) or (), strict=False):
            measure("gen_ai.client.token.usage", tokens, {**about, "gen_ai.token.type": kind})
        if (usage := settle_call(asked, done)) is not None and (cost := usage.get("cost")):
            measure("guardgraph.cost", cost, {"gen_ai.request.model": named["gen_ai.request.model"]})


@contextmanager
def _enter_span(span: Span, outer: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    from opentelemetry.trace import use_span

    with outer(), use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False):
        yield


def _describe_call(asked: Asked) -> tuple[str, dict[str, Any]]:
    """Return the name of a call's span, and what is known before it is made."""
    call, target = asked.call, asked.call.target
    attributes: dict[str, Any] = {"guardgraph.call": asked.number}
    if call.kind == "tool":
        name = call.tool or (target if isinstance(target, str) else name_call_target(target))  # type: ignore[arg-type]
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
        attributes["gen_ai.tool.type"] = "function"
        return f"execute_tool {name}", attributes | ({"guardgraph.effect": "write"} if call.effect == "write" else {})
    name = str(call.about.get("proposer", ""))
    if not is_model_call(call):
        return f"propose {name}", attributes | {"guardgraph.proposer": name}
    provider = target.provider if isinstance(target, ModelProposer) else get_provider_name(target)
    attributes |= {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": name}
    if asked.max_output_tokens is not None:
        attributes["gen_ai.request.max_tokens"] = asked.max_output_tokens
    if isinstance(prompt := call.about.get("prompt"), str):
        attributes["gen_ai.prompt.name"] = prompt
    return f"chat {name}", attributes


def _describe_reply(asked: Asked, done: Performed) -> dict[str, Any]:
    if not is_model_call(asked.call):
        return {}
    usage: Mapping[str, Any] = settle_call(asked, done) or {}
    told = {f"guardgraph.{name}": usage[name] for name in ("tokens", "estimated", "cost") if name in usage}
    for kind, tokens in zip(("input", "output"), read_told_usage(done.outcome) or (), strict=False):
        told[f"gen_ai.usage.{kind}_tokens"] = tokens
    about = done.outcome.about
    if isinstance(model := about.get("model", about.get("proposer")), str):
        told["gen_ai.response.model"] = model
    return told


def _describe_request(asked: Asked) -> dict[str, Any]:
    call = asked.call
    if call.kind == "tool":
        return {"gen_ai.tool.call.arguments": _write_text(call.shown)}
    texts = [("user", _write_text(call.shown))]
    if isinstance(call.target, ModelProposer):
        texts = [*zip(("system", "user"), call.target.list_sent_texts(call.shown), strict=False)]
    sent = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in texts]
    return {"gen_ai.input.messages": _write_text(sent)}


def _describe_content(asked: Asked, outcome: Outcome) -> dict[str, Any]:
    """Return what came of a call, for those who asked for content; nothing of what a caller may not even have found."""
    if asked.call.refuse is not None:
        return {}
    text = outcome.content if isinstance(outcome.content, str) else _write_text(outcome.content)
    if asked.call.kind == "tool":
        return {"gen_ai.tool.call.result": text}
    said = {"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}
    return {"gen_ai.output.messages": _write_text([said])}


def _write_text(value: Any) -> str:
    return format_json_text(make_storable_json(value))


def _set_attributes(span: Span | None, attributes: Mapping[str, Any]) -> None:
    if span is not None and attributes:
        span.set_attributes(dict(attributes))


def _mark_failed(span: Span, why: str) -> None:
    from opentelemetry.trace import StatusCode

    _set_attributes(span, {"error.type": why})
    span.set_status(StatusCode.ERROR)


def _read_mark(mark: str) -> Any:
    """Return the context of a span of another session, None of what is no mark."""
    from opentelemetry.trace import SpanContext, TraceFlags

    try:
        _, trace, span, flags = mark.split("-")
        return SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))
    except ValueError:
        return None
