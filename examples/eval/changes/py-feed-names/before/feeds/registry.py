from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class FeedKey:
    partner: str
    feed: str


class Registry:
    """The feeds of one import run; a later `put` of the same key replaces the path."""

    def __init__(self) -> None:
        self.paths: dict[FeedKey, Path] = {}
        self.skipped = 0

    def put(self, key: FeedKey, path: Path) -> None:
        self.paths[key] = path
