"""OpenAI's models, and those of servers with its interface, as they are named by a string."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ada_url import check_url

from guardgraph.plain.errors import ConfigurationError

if TYPE_CHECKING:
    from guardgraph.world.wrapped import ChatModel


DEFAULT_MODEL = "gpt-4.1-mini"
DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_TIMEOUT_SECONDS = 60.0
LONGEST_TIMEOUT_SECONDS = 86_400.0
"""A day. Far longer ones overflow in the socket layer, in the middle of a run."""
LONGEST_URL = 2_000
FORMS = ("schema", "json", "none")
"""How a model is held to the form of its reply: by a JSON schema, to any JSON object, or by its prompt alone."""

_CONNECTS = "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE, SSL_CERT_DIR"
_CONNECTIONS = "what an HTTP client of httpx can be made with (socks5 needs httpx[socks])"

_HEADERS = {"Connection": "close", "Accept-Encoding": "gzip"}
"""Clients are shared between models, and a connection that one event loop left open fails in the next one ("Event loop
is closed"): a second ``asyncio.run`` would end in ``llm_bad_response``. Gzip is what our client can count unpacked."""


def get_default_openai_model(environ: Mapping[str, str]) -> str:
    """Return the model that ``"openai"`` stands for."""
    return _read_openai_variable(environ, "OPENAI_MODEL") or DEFAULT_MODEL


def create_openai_chat_model(name: str, environ: Mapping[str, str]) -> ChatModel:
    """Return a ``ChatOpenAI``."""
    settings: dict[str, Any] = {
        "api_key": _read_openai_key(environ),
        "base_url": _read_openai_url(environ),
        "timeout": _read_openai_timeout(environ),
        "temperature": 0,
        "max_retries": 0,  # retries belong to one layer, and that is not the client
        "disable_streaming": True,  # a proposal is judged whole
        "default_headers": _HEADERS,
        "http_socket_options": (),  # of LangChain's client, which is not used; it would warn of proxies
        "stream_usage": True,  # without it, a streamed answer of another base URL has no usage
    }
    read_structured_output_form(environ)
    from langchain_openai import ChatOpenAI

    from guardgraph.world.client import make_model_http_clients

    try:
        clients = make_model_http_clients()
    except (ImportError, OSError, ValueError) as error:  # httpx reads them, and names neither variable nor file
        said = " ".join(str(error).split())
        raise make_model_setting_error(_CONNECTS, f"{type(error).__name__}: {said}", _CONNECTIONS) from None
    return ChatOpenAI(model=name, **settings, **clients)


def _read_openai_key(environ: Mapping[str, str]) -> str:
    key = _read_openai_variable(environ, "OPENAI_API_KEY")
    if not key:
        raise make_model_setting_error(
            "OPENAI_API_KEY", "nothing", "the key of your OpenAI account, in the environment or in .env"
        )
    if not _is_header_text(key):
        raise make_model_setting_error(
            "OPENAI_API_KEY", "characters that no HTTP header may carry", "printable ASCII, no blanks"
        )
    return key


def _read_openai_url(environ: Mapping[str, str]) -> str:
    url = _read_openai_variable(environ, "OPENAI_BASE_URL") or DEFAULT_BASE_URL
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        usable = False
    if not usable or not _is_header_text(url) or len(url) > LONGEST_URL or not check_url(url):
        raise make_model_setting_error(
            "OPENAI_BASE_URL", repr(url), f"an http or https URL in ASCII such as {DEFAULT_BASE_URL}"
        )
    return url


def _is_header_text(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _read_openai_timeout(environ: Mapping[str, str]) -> float:
    given = _read_openai_variable(environ, "OPENAI_TIMEOUT_SECONDS") or str(DEFAULT_TIMEOUT_SECONDS)
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= LONGEST_TIMEOUT_SECONDS:
        allowed = f"a number of seconds above 0 and up to {LONGEST_TIMEOUT_SECONDS:.0f}"
        raise make_model_setting_error("OPENAI_TIMEOUT_SECONDS", repr(given), allowed)
    return seconds


def read_structured_output_form(environ: Mapping[str, str]) -> str | None:
    """Return the form of replies that the environment says, one of `FORMS`; None where it says none."""
    form = _read_openai_variable(environ, "OPENAI_STRUCTURED_OUTPUT")
    if form and form not in FORMS:
        raise make_model_setting_error("OPENAI_STRUCTURED_OUTPUT", repr(form), ", ".join(FORMS))
    return form or None


def _read_openai_variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip()


def make_model_setting_error(field: str, given: str, allowed: str) -> ConfigurationError:
    """Return the error that says what is allowed in a field, and what was given."""
    return ConfigurationError(f"{field}: {allowed} is required; given: {given[:80]}")
