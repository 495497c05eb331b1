"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help='Who proposes, such as "openai:gpt-4.1-mini"; offline rules if left out.',
        show_default=False,
    ),
]
Policy = Annotated[
    str | None, typer.Option("--policy", metavar="FILE", help="Policy and budget: YAML or TOML.", show_default=False)
]
Tenant = Annotated[
    str | None, typer.Option("--tenant", metavar="TENANT", help="Whose overlay in --policy.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Goal = Annotated[
    str | None, typer.Option("--goal", help="What the text is for; the demo's if left out.", show_default=False)
]
