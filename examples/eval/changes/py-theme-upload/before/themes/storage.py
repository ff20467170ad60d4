import uuid
from pathlib import Path

ROOT = Path("/srv/themes")


def new_theme_folder(shop_id: int) -> Path:
    """Creates and returns an empty folder for one version of a shop's theme."""
    folder = ROOT / str(shop_id) / uuid.uuid4().hex
    folder.mkdir(parents=True)
    return folder
