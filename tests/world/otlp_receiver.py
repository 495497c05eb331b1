"""A receiver of OpenTelemetry's OTLP over HTTP on 127.0.0.1: it keeps the spans and metrics that an exporter sends.

with OtlpReceiver() as receiver:
...
receiver.spans
"""

from __future__ import annotations

import gzip
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

FORMS: dict[str, tuple[Any, Any]] = {
    "/v1/traces": (ExportTraceServiceRequest, ExportTraceServiceResponse),
    "/v1/metrics": (ExportMetricsServiceRequest, ExportMetricsServiceResponse),
}


class OtlpReceiver:
    """The server; a context manager."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.received = self.received
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        """Where an exporter sends to, without the path of a signal."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> OtlpReceiver:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    @property
    def spans(self) -> list[Any]:
        """The spans that came, in their order."""
        sent = [item for item in self.received if isinstance(item, ExportTraceServiceRequest)]
        return [
            span for item in sent for each in item.resource_spans for scope in each.scope_spans for span in scope.spans
        ]

    @property
    def metrics(self) -> dict[str, Any]:
        """The metrics that came last, by name."""
        sent = [item for item in self.received if isinstance(item, ExportMetricsServiceRequest)]
        scopes = [scope for item in sent for each in item.resource_metrics for scope in each.scope_metrics]
        return {metric.name: metric for scope in scopes for metric in scope.metrics}


class _Server(ThreadingHTTPServer):
    received: list[Any]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        form, reply = FORMS[self.path]
        self.server.received.append(form.FromString(body))  # type: ignore[attr-defined]
        answer = reply().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
