"""What guardgraph raises. A run that ends badly raises nothing: it returns a stop reason.

GuardgraphError
├── ConfigurationError   a factory, a setting, a context or an environment is wrong; nothing was run
│   └── GrammarError     a pattern is put together in a way that the grammar forbids
└── InputError           what was given is no input, no graph, or no run of the graph, or would change a run's state;
                         nothing was run
"""

__all__ = ["ConfigurationError", "GrammarError", "GuardgraphError", "InputError"]


class GuardgraphError(Exception):
    """Every exception of this library."""


class ConfigurationError(GuardgraphError, ValueError):
    """A setting is wrong: the message names the field, what was given and what is allowed."""


class GrammarError(ConfigurationError):
    """A pattern breaks the grammar while it is being built."""


class InputError(GuardgraphError, TypeError):
    """The input is no dictionary, there is no run to resume, or what is to be looked at is no graph or no run of it.

    So is an update of a run's state from outside.
    """
