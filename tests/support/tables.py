"""Tables of pure functions: a test of one has all its rows, and names the first that fails."""


def each_row(names, *rows):
    """Make of a test with these parameters, named as `pytest.mark.parametrize` names them, one test of all rows."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names

    def decorate(test):
        def test_all():
            for row in rows:
                try:
                    test(**dict(zip(names, row if len(names) > 1 else [row], strict=True)))
                except BaseException as error:
                    error.add_note(f"row: {row!r:.300}")
                    raise

        test_all.__name__, test_all.__doc__, test_all.__module__ = test.__name__, test.__doc__, test.__module__
        return test_all

    return decorate
