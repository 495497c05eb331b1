"""How the pages of docs/ become a site: `make docs` writes it to build/docs, with search and without a network."""

import inspect
from importlib import import_module
from importlib.metadata import version as read_version
from pathlib import Path

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


MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    '<aside class="toc-drawer no-toc">': '<aside class="toc-drawer no-toc" aria-label="On this page">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Contents">',
    '<div class="highlight"><pre>': '<div class="highlight"><pre tabindex="0">',
    '<form class="sidebar-search-container" method="get" action="search.html" role="search">': (
        '<form class="sidebar-search-container" method="get" action="search.html" role="search" aria-label="Pages">'
    ),
}
"""What the theme writes that screen readers cannot tell apart or keyboards cannot reach, and its replacement."""


def mend_pages(app, failed):
    """Make the pages that were written reachable for screen readers and keyboards."""
    for page in Path(app.outdir).glob("*.html") if failed is None else ():
        text = page.read_text(encoding="utf-8")
        for written, mended in MENDED.items():
            text = text.replace(written, mended)
        if "<h1" not in text:  # the page of the search
            text = text.replace('<div id="searchbox">', '<h1>Search</h1>\n<div id="searchbox">')
        page.write_text(text, encoding="utf-8")


def setup(app):
    """Tell Sphinx of the reference, and of what is mended behind it."""
    app.connect("source-read", fill_reference)
    app.connect("build-finished", mend_pages)
