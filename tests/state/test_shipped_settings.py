"""Settings of our own are built when they are first used, so what is wrong with one is found here."""

from importlib import import_module

from guardgraph.grammar import Settings


def kinds(base):
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_the_defaults_of_every_shipped_setting_are_valid():
    """Each is what its own type allows; a user's class is refused when it is declared."""
    for module in ("rag", "research", "self_critique", "tools"):
        import_module(f"guardgraph.state.{module}")
    shipped = [kind for kind in kinds(Settings) if kind.__module__.startswith("guardgraph.")]
    assert len(shipped) >= 10
    for kind in shipped:
        fields = kind.model_fields.items()
        said = {name: field for name, field in fields if field.default_factory is None and not field.is_required()}
        kind.model_validate({name: field.default for name, field in said.items()})
