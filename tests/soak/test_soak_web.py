"""What takes a minute: a thousand runs that read ten pages each. `make soak` runs it."""

from __future__ import annotations

import web


def test_a_thousand_runs_leave_nothing_behind():
    """Memory, sockets and threads are at the end what they were after a hundred runs."""
    with web.WebServer({"/now": web.answer(web.TEXT)}) as server:
        had = dict(web.growth(server, 1000))
    assert had.keys() == {"web_growth_memory", "web_growth_sockets", "web_growth_threads"}
    assert {name: value for name, value in had.items() if value > 1.05} == {}
