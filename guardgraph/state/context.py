"""What one run gives beside its input: tighter settings, and who asks; and which documents whoever asks may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Generic, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from guardgraph.plain.errors import ConfigurationError, make_configuration_error
from guardgraph.plain.json import find_json_problem
from guardgraph.plain.letters import normalise_to_nfc
from guardgraph.state.settings import Budget, BudgetT, PolicyT, Settings

PUBLIC: Final = "public"  # the reader that is everybody
TENANT: Final = "tenant"  # the reader that is every caller of the document's tenant


class Access(NamedTuple):
    """Who may read a document."""

    tenant: str | None  # the organisation that it belongs to; None is the callers without a tenant
    readers: tuple[str, ...]
    """``public``, ``tenant``, ``user:ID`` and ``group:ID``, sorted, each once; without any, nobody."""


def is_access_allowed(access: Access, caller: Caller | None) -> bool:
    """Say whether a caller may read a document; None is somebody of whom nothing is known."""
    if PUBLIC in access.readers:
        return True
    if caller is None or normalise_tenant(caller.tenant) != normalise_tenant(access.tenant):
        return False
    return not set(caller.readers).isdisjoint(map(normalise_to_nfc, access.readers))


def normalise_tenant(tenant: str | None) -> str | None:
    """Return a tenant in its composed form, None for none."""
    return None if tenant is None else normalise_to_nfc(tenant)


def find_reader_problem(reader: object) -> str | None:
    """Say why something names no reader, None where it does; an id may contain colons."""
    if isinstance(reader, str):
        kind, colon, name = reader.partition(":")
        if reader in {PUBLIC, TENANT} or (colon and kind in {"user", "group"} and name.strip()):
            return None
    return f"public, tenant, user:ID or group:ID is required; given: {reader!r:.80}"


def normalize_document_access(tenant: str | None, readers: Sequence[str]) -> Access:
    """Return an access in its normal form."""
    for reader in readers:
        if (problem := find_reader_problem(reader)) is not None:
            raise ValueError(problem)
    return Access(normalise_tenant(tenant), tuple(sorted(set(map(normalise_to_nfc, readers)))))


def _validate_caller_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("a text is required")
    if (problem := find_json_problem(value)) is not None:
        raise ValueError(f"a text that can be stored is required, not {problem}")
    return value


def _validate_caller_id(value: object) -> object:
    return None if value is None else _validate_caller_text(value)


def _validate_caller_groups(value: object) -> object:
    if not isinstance(value, list | tuple):
        raise ValueError("a list of strings is required")
    return tuple(dict.fromkeys(map(_validate_caller_text, value)))


class Caller(BaseModel):
    """Who asks. It comes from whoever runs the graph, never from an input or a model, and nothing tightens it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    tenant: Annotated[str | None, BeforeValidator(_validate_caller_id)] = None
    """The organisation for which the user asks."""
    user: Annotated[str | None, BeforeValidator(_validate_caller_id)] = None
    """The user's identity."""
    groups: Annotated[tuple[str, ...], BeforeValidator(_validate_caller_groups)] = ()
    """The groups that the user belongs to, each once."""

    @property
    def readers(self) -> tuple[str, ...]:
        """What the readers of a document of the caller's tenant have one of, where the caller may read it.

        Those are ``tenant``, ``user:ID`` and a ``group:ID`` for each group; a document of any tenant that is for
        everybody has ``public``. They are in their composed form (NFC).
        """
        user = () if self.user is None else (f"user:{self.user}",)
        return ("tenant", *map(normalise_to_nfc, (*user, *(f"group:{group}" for group in self.groups))))


def build_server_caller(user: object) -> Caller | None:
    """Make a caller of the user that LangGraph's server found: ``Runtime.server_info.user``."""
    identity, tenant, groups = (_get_user_field(user, name) for name in ("identity", "tenant", "groups"))
    listed = isinstance(groups, list | tuple) and all(isinstance(item, str) for item in groups)
    try:
        caller = Caller(
            tenant=tenant if isinstance(tenant, str) else None,
            user=identity if isinstance(identity, str) and identity else None,
            groups=groups if listed else (),
        )
    except ValidationError as error:
        raise make_configuration_error("user", error) from None
    return None if caller == Caller() else caller


def _get_user_field(user: Any, name: str) -> Any:
    """Return a field of a user, None where it has none; an attribute goes before a key."""
    value = getattr(user, name, None)
    if value is not None or not hasattr(user, "__getitem__"):
        return value
    try:
        return user[name]
    except (LookupError, TypeError, AttributeError):
        return None


MOST_FIELDS = 1000
"""Fields that a context, each part of it, and the configuration beside it may have: somebody reads them one by one."""


def check_field_counts(given: Mapping[Any, Any]) -> None:
    """Refuse a context of far more fields than there are settings, before anybody reads them one by one."""
    parts = {f"context.{name}": given[name] for name in Context.model_fields if name in given}
    for name, held in {"context": given, **parts}.items():
        if isinstance(held, Mapping) and len(held) > MOST_FIELDS:
            raise ConfigurationError(f"{name}: at most {MOST_FIELDS} fields; given: {len(held)}")


class Context(BaseModel, Generic[PolicyT, BudgetT]):
    """What one run gives through LangGraph's context: tighter settings than the deployment's, never looser ones."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    policy: PolicyT | None = None
    """Fields of the policy; those left out stay the deployment's."""
    budget: BudgetT | None = None
    """Fields of the budget; those left out stay the deployment's."""
    caller: Caller | None = None
    """Who asks."""

    @classmethod
    def within(cls, given: object) -> Self | None:
        """Return what a context says to this graph, None where it says nothing.

        A graph inside another one is handed the other's context: of a dictionary it takes `policy`, `budget` and
        `caller`, of another graph's context who asks; any other object is not meant for it.

        Raises:
            ConfigurationError: what a dictionary says of one of these has unknown fields or wrong types.
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, Context):
            return None if given.caller is None else cls(caller=given.caller)
        if not isinstance(given, Mapping):
            return None
        check_field_counts(given)
        try:
            return cls(**{name: given[name] for name in cls.model_fields if name in given})
        except ValidationError as error:
            raise make_configuration_error("context", error) from None

    def check(self, policy: Settings, budget: Budget) -> None:
        """Refuse, with a ConfigurationError, a context that names another value for what a deployment fixed."""
        policy.check_overlay(self.policy, "context.policy")
        budget.check_overlay(self.budget, "context.budget")
