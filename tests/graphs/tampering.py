"""Ways of breaking a good graph, for the tests of `verify`: changes to its builder, which is then compiled again."""

from ticket_pattern import Policy, pattern
from typing_extensions import TypedDict

from guardgraph import verify
from guardgraph.graphs.running.node import GrammarNode


def broken(*tamper):
    """Tamper with the builder of a good graph, compile it again and return the findings."""
    builder = pattern().builder()
    for change in tamper:
        change(builder)
    return verify(builder.compile())


def by_rule(findings, rule):
    found = [finding for finding in findings if finding.rule == rule]
    assert found, [str(finding) for finding in findings]
    return found


def fails(rule, *nodes, path=None, tamper):
    """Assert that a broken graph fails a rule, with these nodes and this path."""
    found = by_rule(broken(*tamper), rule)
    assert tuple(sorted(nodes)) in [finding.nodes for finding in found], [str(finding) for finding in found]
    if path is not None:
        assert path in [finding.path for finding in found], [str(finding) for finding in found]


def plain(state):
    return {"accepted_label": "bug"}


def edge(start, end):
    return lambda builder: builder.add_edge(start, end)


def node(name, action=plain, **kwargs):
    return lambda builder: builder.add_node(name, action, **kwargs)


def branch(name, path, ends=None):
    return lambda builder: builder.add_conditional_edges(name, path, ends)


def spec(name, **changed):
    """Return a change to how a node is kept in the builder."""

    def change(builder):
        for key, value in changed.items():
            setattr(builder.nodes[name], key, value)

    return change


def ways(name, **changed):
    """Return a change to the path map of a guard's own conditional edge; None takes a way out."""

    def change(builder):
        ends = builder.branches[name]["route"].ends
        ends.update(changed)
        for way in [way for way, end in ends.items() if end is None]:
            del ends[way]

    return change


def readable(name, *channels):
    """Return a change that gives a node more channels to read."""

    def change(builder):
        schema = TypedDict("Wider", dict.fromkeys([*builder.schemas[builder.nodes[name].input_schema], *channels], str))
        builder._add_schema(schema)
        builder.nodes[name].input_schema = schema

    return change


def declared(name, **changed):
    """Return a change that replaces a node by one of the grammar's with another declaration."""

    def change(builder):
        made = builder.nodes[name].runnable
        item = type(made.declaration)(**{**as_dict(made.declaration), **changed})
        frame = made.frame
        frame.declarations[name] = item
        builder.nodes[name].runnable = GrammarNode(item, made.body, frame)
        builder.nodes[name].metadata = item.build_node_metadata()

    return change


def as_dict(item):
    return {field: getattr(item, field) for field in item.__dataclass_fields__}


def channel(name, made):
    return lambda builder: builder.channels.update({name: made})


class Tame(GrammarNode):
    """A node that would do something else."""


def overridden(part):
    """Give a guard, or its branch, a method of its own."""

    def change(builder):
        (made,) = builder.branches["label_guard"].values()
        target = builder.nodes["label_guard"].runnable if part == "node" else made.path
        target.invoke = plain

    return change


def lax():
    return pattern(policy=Policy(labels=("anything",))).builder()
