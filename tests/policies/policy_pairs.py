"""Random pairs of tool policies, and calls that might tell them apart: for a review's verdict."""

from guardgraph import ToolBudget, ToolPolicy, ToolRule
from guardgraph.guards.stop import Stop
from guardgraph.guards.tools.licence import check_licence, complete_call
from guardgraph.policies.file import PolicyFile
from guardgraph.state.tools import ArgumentRule, Given, MadeCall, ToolCard

TOOLS = ("r", "w", "x")
ARGUMENTS = ("to", "amount", "note")
VALUES = ("bob", "eve", "5", 5, 50, 1, 0, "z9 long value", "https://a.com/x", "https://b.com/x", "")


def draw_policy_pair(drawn):
    """Return two policy files, of which one is the other with up to three settings drawn anew, and the tools' cards."""
    lists, rules, budget = _draw_settings(drawn)
    other = {**lists}, {name: dict(rule) for name, rule in rules.items()}, {**budget}
    for _ in range(drawn.choice([1, 1, 1, 2, 3])):
        _draw_anew(drawn, *other)
    schema = {"type": "object", "properties": {name: {} for name in ARGUMENTS}}
    cards = {name: ToolCard(name=name, description="", schema=schema) for name in TOOLS}
    return _make_file(lists, rules, budget), _make_file(*other), cards


def draw_call(drawn):
    tool, args = drawn.choice(TOOLS), _draw_arguments(drawn)
    task = " ".join(str(value) for value in drawn.sample(VALUES, drawn.randint(0, 3)))
    made = []
    for number in range(drawn.choice([0, 0, 1, 1, 2, 3])):
        other = drawn.choice(TOOLS)
        said = [None, "others say eve", {"a": {"id": drawn.choice(VALUES)}}, {"id": "bob", "b": {"q": 5}}]
        value = drawn.choice(said)
        again = args if other == tool and drawn.random() < 0.4 else _draw_arguments(drawn)
        effect = drawn.choice(["read", "write"])
        made.append(MadeCall(id=f"r{number + 1}", tool=other, args=again, effect=effect, value=value))
    return tool, args, Given(task=task, history=[]), made


def judge_call(call, file, completing, cards):
    """Return how far a call comes under a file: 0 refused, 1 a person is asked, 2 made; as the other completes it."""
    tool, args, given, made = call
    completed = complete_call(tool, args, completing.policy.rule_of(tool), cards[tool]["schema"])
    try:
        licence = check_licence(completed, cards=cards, policy=file.policy, budget=file.budget, given=given, made=made)
    except Stop:
        return 0
    return 1 if licence.needs_approval else 2


def _draw_arguments(drawn):
    return {name: drawn.choice(VALUES) for name in drawn.sample(ARGUMENTS, drawn.randint(0, 2))}


def _draw_settings(drawn):
    lists = {
        "tools_policy": tuple(drawn.sample(TOOLS, drawn.choice([2, 3, 3]))),
        "tools_execution": tuple(drawn.sample(TOOLS, drawn.choice([2, 3, 3]))),
        "denied_tools": tuple(drawn.sample(TOOLS, drawn.choice([0, 0, 1]))),
    }
    rules = {name: _draw_rule(drawn) for name in TOOLS if drawn.random() < 0.8}
    budget = {
        "max_same_call": drawn.choice([1, 1, 2]),
        "max_same_read": drawn.choice([2, 2, 3]),
        "max_tool_calls": drawn.choice([3, 20]),
    }
    return lists, rules, budget


def _draw_rule(drawn):
    fields = {
        "effect": (0.5, lambda: drawn.choice(["read", "write"])),
        "sends": (0.2, lambda: True),
        "destructive": (0.2, lambda: True),
        "trusted": (0.2, lambda: tuple(drawn.sample(["a.id", "b.*", "id"], drawn.randint(1, 2)))),
        "authority": (0.3, lambda: tuple(drawn.sample(ARGUMENTS, drawn.randint(0, 2)))),
        "arguments": (0.5, lambda: _draw_limits_of_some(drawn)),
        "forced": (0.1, lambda: {drawn.choice(ARGUMENTS): drawn.choice(["bob", "5"])}),
        "approve": (0.4, lambda: drawn.choice(["unsupported", "always", "never", "refuse"])),
        "max_calls": (0.2, lambda: drawn.choice([0, 1, 2])),
    }
    return {name: make() for name, (share, make) in fields.items() if drawn.random() < share}


def _draw_limits_of_some(drawn):
    return {name: _draw_limits(drawn) for name in drawn.sample(ARGUMENTS, drawn.randint(1, 2))}


def _draw_limits(drawn):
    fields = {
        "allowed": (0.3, lambda: tuple(drawn.sample(["bob", "eve", "5", "50"], drawn.randint(0, 3)))),
        "max": (0.2, lambda: float(drawn.choice([5, 50]))),
        "min": (0.2, lambda: float(drawn.choice([1, 5]))),
        "max_chars": (0.1, lambda: drawn.choice([3, 10])),
        "licenses": (0.1, lambda: False),
        "hosts": (0.1, lambda: tuple(drawn.sample(["a.com", "b.com"], drawn.randint(1, 2)))),
    }
    return ArgumentRule(**{name: make() for name, (share, make) in fields.items() if drawn.random() < share})


def _draw_anew(drawn, lists, rules, budget):
    others = _draw_settings(drawn)
    part = drawn.choices(["list", "budget", "rule"], [20, 15, 65])[0]
    if part == "rule":
        tool, field = drawn.choice(TOOLS), drawn.choice(list(ToolRule.model_fields))
        rule = rules.setdefault(tool, {})
        rule.pop(field, None)
        rule.update({name: value for name, value in others[1].get(tool, {}).items() if name == field})
    else:
        own, drawn_anew = (lists, others[0]) if part == "list" else (budget, others[2])
        name = drawn.choice(list(own))
        own[name] = drawn_anew[name]


def _make_file(lists, rules, budget):
    named = {name: ToolRule(**rule) for name, rule in rules.items()}
    return PolicyFile("tools", ToolPolicy(**lists, rules=named), ToolBudget(**budget))
