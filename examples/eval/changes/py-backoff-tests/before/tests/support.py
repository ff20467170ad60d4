"""Helpers for tests."""
from collections.abc import Callable


def raised_by(action: Callable[[], object]) -> Exception | None:
    """Runs the action and returns the exception that it raised, None if it raised none.

    The helper itself never fails a test; the caller asserts on the result.
    """
    try:
        action()
    except Exception as error:
        return error
    return None
