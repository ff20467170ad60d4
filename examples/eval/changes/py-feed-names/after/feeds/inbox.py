"""Scan of the inbox folder for partner feeds."""
import re
from pathlib import Path

from feeds.registry import FeedKey, Registry

PACKED = ".csv.gz"
PLAIN = ".csv"
PARTNER = re.compile(r"[a-z0-9_]+")
FEED = re.compile(r"[a-z0-9_-]+")


def parse_name(name: str) -> FeedKey | None:
    """Returns the key of a feed file, None for a file with another name."""
    if name.endswith(PACKED):
        stem = name.rstrip(PACKED)
    elif name.endswith(PLAIN):
        stem = name.rstrip(PLAIN)
    else:
        return None
    partner, _, feed = stem.partition("-")
    if not PARTNER.fullmatch(partner) or not FEED.fullmatch(feed):
        return None
    return FeedKey(partner, feed)


def scan(inbox: Path) -> Registry:
    registry = Registry()
    # "x.csv" sorts before "x.csv.gz", so the packed file is put last.
    for path in sorted(inbox.iterdir()):
        key = parse_name(path.name)
        if key is None:
            registry.skipped += 1
        else:
            registry.put(key, path)
    return registry
