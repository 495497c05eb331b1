"""What is said where an extra is missing can be typed, in a checkout and beside a wheel."""

from importlib import metadata

from guardgraph.plain.extras import explain_extra


def test_a_missing_extra_is_installed_by_its_name(monkeypatch):
    """The command names the extra; where nothing is installed, since a checkout is on the path, the checkout's."""
    assert explain_extra("kb") == 'guardgraph\'s extra `kb` is required: pip install "guardgraph[kb]"'

    def find_nothing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("guardgraph.plain.extras.version", find_nothing)
    assert explain_extra("kb").endswith(': pip install ".[kb]"')
