"""How the pages of docs/ become a site: `make docs` writes it to build/docs, with search and without a network."""

import inspect
from importlib import import_module
from importlib.metadata import version as read_version

from sphinx.pycode import ModuleAnalyzer

project = "guardgraph"
author = "The guardgraph developers"
copyright = "The guardgraph developers"
release = version = read_version("guardgraph")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
autodoc_typehints = "none"  # the signature says them
autodoc_typehints_format = "short"
napoleon_use_rtype = False
default_role = "code"

html_theme = "furo"
html_title = f"guardgraph {release}"
html_copy_source = False
html_show_sphinx = False

PYDANTIC = "model_config, model_post_init"
FRONTS = ("guardgraph", "guardgraph.grammar", "guardgraph.testing")


def describe_front(module: str) -> str:
    """Return the directives that describe the public names of a module, which are those of its stub."""
    front = import_module(module)
    lines = []
    for name in front.__all__:
        value = getattr(front, name)
        if inspect.isclass(value):
            lines += [f".. autoclass:: {module}.{name}", "   :members:", f"   :exclude-members: {PYDANTIC}", ""]
        elif inspect.isfunction(value):
            lines += [f".. autofunction:: {module}.{name}", ""]
        else:
            lines += [f".. py:data:: {module}.{name}", "", *(f"   {line}" for line in read_data_docs(front, name)), ""]
    return "\n".join(lines)


def read_data_docs(front, name: str) -> list[str]:
    """Return what stands under a constant or an alias in the module that it comes from."""
    home = front._front.homes[name] if hasattr(front, "_front") else front.__name__
    docs = ModuleAnalyzer.for_module(home).find_attr_docs()
    return docs.get(("", name), [])


def fill_reference(app, docname, source):
    """Put the public names into the page of the Python API, where it names their module."""
    if docname == "api":
        for module in FRONTS:
            source[0] = source[0].replace(f"<!-- {module} -->", f"```{{eval-rst}}\n{describe_front(module)}\n```")


def setup(app):
    """Tell Sphinx of the reference."""
    app.connect("source-read", fill_reference)
