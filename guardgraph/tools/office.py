"""The tool agent's default tools: an office of the demo with files and an account, none of them real."""

from __future__ import annotations

from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.tools import ArgumentRule, ToolPolicy, ToolRule
from guardgraph.tools.demo import load_demo_file
from guardgraph.world.call import NamedTool, mark_as_instant

OFFICE_POLICY = ToolPolicy(
    rules={
        "list_files": ToolRule(effect="read", trusted=("*",)),
        "read_file": ToolRule(effect="read"),
        "send_money": ToolRule(approve="never", arguments={"amount": ArgumentRule(min=0.01, max=2000)}),
    }
)
"""The rules of the demo: what a file says licenses nothing, and nobody is there to be asked."""


def make_demo_office() -> dict[str, NamedTool]:
    """Make the tools of the demo, by name: ``list_files``, ``read_file``, ``send_money``."""
    files: dict[str, str] = load_demo_file("tools_files.json")

    @mark_as_instant
    def list_files(request: JsonObject) -> JsonValue:
        return sorted(files)

    @mark_as_instant
    def read_file(request: JsonObject) -> JsonValue:
        if request["name"] not in files:
            raise LookupError(f"there are {', '.join(sorted(files))}; given: {request['name']!r:.80}")
        return files[request["name"]]

    @mark_as_instant
    def send_money(request: JsonObject) -> JsonValue:
        return {"status": "sent", **request}

    named, text = {"name": {"type": "string"}}, {"type": "string"}
    transfer = {"to": text, "amount": {"type": "number"}, "reference": text}
    return {
        "list_files": NamedTool(list_files, "List the names of the files.", _describe_arguments({})),
        "read_file": NamedTool(read_file, "Read a file.", _describe_arguments(named)),
        "send_money": NamedTool(send_money, "Send euros to an account.", _describe_arguments(transfer, "reference")),
    }


def _describe_arguments(properties: JsonObject, *optional: str) -> JsonObject:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
