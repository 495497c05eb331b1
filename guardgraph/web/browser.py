"""The browser's side: shows one page after another in Chromium, and says what of each is seen."""

# It runs in a process of its own and reaches nothing: whatever a page asks for is asked of the reader over the pipe.

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final

from guardgraph.formats.frames import receive_all, send_all

WIDTH, HEIGHT = 1280, 800
"""CSS pixels of the window."""
_TILE: Final = 4_000
"""CSS pixels that one picture is high."""
_ANSWERED: Final = frozenset({"stylesheet", "image", "font"})
"""What a page may ask for; other pages, scripts, films and whatever talks are refused."""
_OPTIONS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=socks5://0.0.0.0:1",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--disable-dev-shm-usage",
    "--blink-settings=minimumLogicalFontSize=0,minimumFontSize=0",  # small letters are as small as they are said to be
)
"""No name is looked up and nothing is dialled, whoever in the browser would want that."""

_QUIET: Final[dict[str, Any]] = {
    "offline": True, "service_workers": "block", "accept_downloads": False, "permissions": [],
    "viewport": {"width": WIDTH, "height": HEIGHT}, "reduced_motion": "reduce", "color_scheme": "light",
}  # fmt: skip


def main(executable: str) -> None:
    """Answer every question, until nobody asks any more."""
    asks, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    answer_questions(executable, asks, answers)


def answer_questions(executable: str, asks: int, answers: int) -> None:
    """Show one page after another, until the pipe is closed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=executable or None,
            args=[*_OPTIONS],
            chromium_sandbox=os.geteuid() != 0,  # Chromium gives root none
            handle_sigint=False,
        )
        bench = chromium.new_context(**_QUIET).new_page()
        while (head := receive_all(asks)) is not None and (body := receive_all(asks)) is not None:
            with closing(_Showing(chromium, bench, asks, answers)) as showing:
                said, html = showing.show(json.loads(head), body)
            send_all(answers, json.dumps(said).encode())
            send_all(answers, html)


class _Showing:
    """Shows one page."""

    def __init__(self, chromium: Any, bench: Any, asks: int, answers: int) -> None:
        self._asks, self._answers = asks, answers
        self._context = chromium.new_context(java_script_enabled=False, **_QUIET)
        self._bench = bench  # a blank page, where pictures are compared
        self._question: dict[str, Any] = {}
        self._body: bytes | None = None

    def close(self) -> None:
        """Close the page."""
        self._context.close()

    def show(self, question: dict[str, Any], body: bytes) -> tuple[dict[str, str], bytes]:
        """Return what is said of a page, and what of it is seen, as a page."""
        from playwright.sync_api import Error

        self._question, self._body = question, body
        for each in (self._context, self._bench):
            each.set_default_timeout(question["seconds"] * 1000)
        try:
            self._context.route(lambda _: True, self._answer)
            page = self._context.new_page()
            page.goto(question["url"], wait_until="load")
            return {"said": "shown"}, self._seen(page).encode("utf-8", "replace")
        except Error as error:
            return {"said": "failed", "cause": " ".join(str(error).split())[:200]}, b""
        except _TooLarge:
            return {"said": "too_large"}, b""

    def _answer(self, route: Any) -> None:
        request = route.request
        if self._body is not None and request.is_navigation_request() and request.url == self._question["url"]:
            body, self._body = self._body, None
            route.fulfill(status=200, headers={"content-type": self._question["content_type"]}, body=body)
            return
        if request.is_navigation_request():
            route.fulfill(status=204)  # where nothing is, nobody goes: the page stays
            return
        if request.resource_type not in _ANSWERED or request.method != "GET":
            route.abort()
            return
        send_all(self._answers, json.dumps({"said": "asks", "url": request.url}).encode())
        send_all(self._answers, b"")
        head, found = receive_all(self._asks), receive_all(self._asks)
        if head is None or found is None:
            raise EOFError
        content_type = json.loads(head)["content_type"]
        if content_type is None:
            route.abort()
            return
        # A page decides with it what a font or a picture of another host may do in it: nothing that scripts could use.
        headers = {"content-type": content_type, "access-control-allow-origin": "*"}
        route.fulfill(status=200, headers=headers, body=found)

    def _seen(self, page: Any) -> str:
        state = page.evaluate_handle(_script("seen"))
        told = state.evaluate("state => state && [state.size, state.layers]")
        if told is None:
            raise _TooLarge
        (width, height), layers = told
        tiles = list(_tiles(max(width, 1), max(height, 1)))
        if not layers:
            return str(state.evaluate("state => state.html()"))
        before = [_picture(page, tile) for tile in tiles]
        for layer in range(layers):
            letters = state.evaluate("(state, layer) => state.hide(layer)", layer)
            for tile, whole in zip(tiles, before, strict=True):
                top = tile["y"]
                held = [letter for letter in letters if top <= (letter[3] + letter[5]) / 2 < top + tile["height"]]
                if not held:
                    continue
                boxes = [[left, upper - top, right, lower - top] for _, _, left, upper, right, lower in held]
                drawn = self._bench.evaluate(_script("told_apart"), [whole, _picture(page, tile), boxes])
                seen = [letter[:2] for letter, is_drawn in zip(held, drawn, strict=True) if is_drawn]
                state.evaluate("(state, [layer, drawn]) => state.mark(layer, drawn)", [layer, seen])
            state.evaluate("state => state.show()")
        return str(state.evaluate("state => state.html()"))


class _TooLarge(Exception):
    """A page has more letters than a reader reads."""


@cache
def _script(name: str) -> str:
    return Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8")


def _tiles(width: int, height: int) -> Iterator[dict[str, int]]:
    for top in range(0, height, _TILE):
        yield {"x": 0, "y": top, "width": width, "height": min(_TILE, height - top)}


def _picture(page: Any, tile: dict[str, int]) -> str:
    return base64.b64encode(page.screenshot(clip=tile, full_page=True, animations="disabled")).decode("ascii")
