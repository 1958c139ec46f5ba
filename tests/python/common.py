"""What the tests share. Import it before the compiled module: unless numpy is asked for, it hides numpy."""
import os
import sys

if not os.environ["FSMC_TEST_NUMPY"]:
    sys.modules["numpy"] = None


def plain(value):
    """Results as numbers, lists and tuples."""
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    return value.tolist() if hasattr(value, "tolist") else value


def show(function, *arguments, **options):
    """Prints a result, or the class, bases, code and text of an exception."""
    try:
        print(function.__name__, plain(function(*arguments, **options)))
    except Exception as error:
        names = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"][0]
        print(function.__name__, "raises", type(error).__name__, names, getattr(error, "code", "?"), error)
