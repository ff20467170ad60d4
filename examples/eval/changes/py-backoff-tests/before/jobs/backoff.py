"""Pauses between the attempts of a job."""

FIRST_SECONDS = 2
MAX_SECONDS = 300


def pause_before(attempt: int) -> int:
    """Returns the pause before an attempt in seconds."""
    if attempt < 1:
        raise ValueError(f"attempts count from 1: {attempt}")
    return min(FIRST_SECONDS << min(attempt - 1, 16), MAX_SECONDS)
