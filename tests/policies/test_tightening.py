"""Kinds of settings: how two values become one, in the built-in kinds and in those of a user."""

import math
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError
from tables import each_row
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError
from guardgraph.grammar import Allowlist, Budget, Context, MaxInt, Settings, Tightens
from guardgraph.plain.errors import make_configuration_error

ORDER = ("low", "medium", "high")


class Prices(Settings):
    """A policy of a user's own, with every kind that `Tightens` has."""

    max_price: Annotated[float, Tightens.smallest] = 2.5
    min_margin: Annotated[float, Tightens.largest] = 0.1
    currencies: Annotated[tuple[str, ...], Tightens.intersection] = ("EUR", "USD")
    ports: Annotated[tuple[int, ...], Tightens.union] = (22,)
    signed: Annotated[bool, Tightens.either] = False
    severity: Annotated[str, Tightens.ordered(*ORDER)] = "low"
    mode: Annotated[Literal["dry", "live"], Tightens.fixed] = "dry"


LISTS = st.lists(st.sampled_from("abcd"), max_size=4).map(lambda items: tuple(dict.fromkeys(items)))
NUMBERS = st.none() | st.floats(-9, 9) | st.integers(-9, 9)


def at_most(tight, loose):
    return float("inf" if tight is None else tight) <= float("inf" if loose is None else loose)


def at_least(tight, loose):
    return float("-inf" if tight is None else tight) >= float("-inf" if loose is None else loose)


def no_earlier(tight, loose):
    return ORDER.index(tight) >= ORDER.index(loose)


KINDS = {
    "smallest": (Tightens.smallest, NUMBERS, at_most),
    "largest": (Tightens.largest, NUMBERS, at_least),
    "intersection": (Tightens.intersection, LISTS, lambda tight, loose: set(tight) <= set(loose)),
    "union": (Tightens.union, LISTS, lambda tight, loose: set(tight) >= set(loose)),
    "either": (Tightens.either, st.booleans(), lambda tight, loose: tight >= loose),
    "ordered": (Tightens.ordered(*ORDER), st.sampled_from(ORDER), no_earlier),
    "fixed": (Tightens.fixed, st.just("EUR"), lambda tight, loose: tight == loose),
}
"""Every kind with its values (of a fixed setting the one that a context may name), and when one is no looser."""


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_kind_tightens(kind, data):
    """Once is as good as twice, grouping does not matter, the result is no looser than either side, and it says so."""
    rule, values, no_looser = KINDS[kind]
    a, b, c = (rule.check(data.draw(values)) for _ in range(3))
    both = rule.how(a, b)
    assert rule.how(a, a) == a
    assert rule.how(both, b) == rule.how(both, a) == both
    assert rule.how(both, c) == rule.how(a, rule.how(b, c))
    assert no_looser(both, a)
    assert no_looser(both, b)
    assert rule.check(both) == both
    expected = {(True, True): "equal", (True, False): "tighter", (False, True): "looser", (False, False): "other"}
    assert rule.compared(a, b) == expected[no_looser(b, a), no_looser(a, b)]


@each_row(
    ("field", "value", "allowed"),
    ("severity", "urgent", "one of 'low', 'medium', 'high' is required; given: 'urgent'"),
    ("max_price", "2", "Input should be a valid number; given: '2'"),
    ("max_price", math.inf, "a finite number is required; given: inf"),
    ("currencies", "EUR", "Input should be a valid tuple; given: 'EUR'"),
    ("mode", "wet", "Input should be 'dry' or 'live'; given: 'wet'"),
)
def test_a_value_that_its_kind_does_not_know_is_refused(field, value, allowed):
    """Nothing is coerced; the message names the field, what is allowed and what was given."""
    with pytest.raises(ValidationError) as raised:
        Prices(**{field: value})
    assert str(make_configuration_error("policy", raised.value)) == f"policy.{field}: {allowed}"


KIND_REQUIRED = "a setting is a MaxInt, MaxFloat, MinFloat, Allowlist, "
ONE_WAY = "a setting tightens in one way; given: Tightens."


@each_row(
    ("hint", "default", "problem"),
    (Annotated[str, Tightens.ordered(*ORDER)], "urgent", "one of 'low', 'medium', 'high' is required"),
    (Annotated[dict[str, float], Tightens.smallest], {"a": 1.0}, "a finite number is required"),
    (Annotated[list[str], Tightens.union], ["a"], "a list is required, and a tuple as the field's type"),
    (Annotated[tuple[str, ...], Tightens.union], ("a\x00",), "a text that can be stored is required, not "),
    (Annotated[int, Field(ge=3), Tightens.largest], 2, "Input should be greater than or equal to 3"),
    (Annotated[Allowlist, Tightens.fixed], ("a",), f"{ONE_WAY}intersection, Tightens.fixed"),
    (Annotated[MaxInt, Tightens.largest], 2, f"{ONE_WAY}smallest, Tightens.largest"),
    (int, 2, KIND_REQUIRED),
    (list[str], [], KIND_REQUIRED),
)
def test_a_field_says_one_way_in_which_it_tightens_and_its_default_can(hint, default, problem):
    """A class with any other field cannot be written; the error names class and field."""
    namespace = {"__annotations__": {"field": hint}, "field": default, "__module__": __name__}
    with pytest.raises(TypeError, match=r"^Wrong\.field: ") as raised:
        type("Wrong", (Settings,), namespace)
    assert problem in str(raised.value)


@each_row("order", (), ("low", "low"), ("low", 1))
def test_an_order_is_of_different_texts(order):
    with pytest.raises(ConfigurationError, match=r"^ordered: different texts, at least one; given: "):
        Tightens.ordered(*order)


class Desk(Settings):
    """A policy for the ticket pattern with a fixed mode and a severity."""

    labels: Allowlist = ("billing", "bug", "spam")
    desks: Allowlist = ("billing", "bug")
    mode: Annotated[str, Tightens.fixed] = "dry"
    severity: Annotated[str, Tightens.ordered(*ORDER)] = "low"


class Limits(Budget):
    """A budget with a currency that a deployment fixes."""

    currency: Annotated[str, Tightens.fixed] = "EUR"


def test_a_context_that_contradicts_a_fixed_setting_is_refused_at_the_door():
    """Nothing is run, and each line names a field, what the deployment fixed and what was given."""
    graph, policy = triage(policy=Desk(mode="live"), budget=Limits()), {"mode": "dry", "severity": "high"}
    for context in ({"policy": policy}, Context[Desk, Limits](policy=Desk(**policy))):
        with pytest.raises(ConfigurationError) as raised:
            graph.invoke(TICKET, context=context)
        assert str(raised.value) == "context.policy.mode: the deployment fixed 'live'; given: 'dry'"
    with pytest.raises(ConfigurationError) as raised:
        graph.invoke(TICKET, context={"budget": {"currency": "USD"}})
    assert str(raised.value) == "context.budget.currency: the deployment fixed 'EUR'; given: 'USD'"
