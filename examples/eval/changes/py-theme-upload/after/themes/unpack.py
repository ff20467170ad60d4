"""Unpacking of uploaded themes, see docs/themes.md."""
import zipfile
from pathlib import Path
from typing import BinaryIO

from themes.errors import ThemeRefused
from themes.storage import new_theme_folder

ALLOWED = {".html", ".css", ".js", ".png", ".svg", ".woff2"}
MAX_FILES = 500
MAX_BYTES = 20 * 1024 * 1024
ENCRYPTED = 0x1


def check_members(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_FILES:
        raise ThemeRefused(f"more than {MAX_FILES} files")
    for member in members:
        if member.flag_bits & ENCRYPTED:
            raise ThemeRefused(f"encrypted file: {member.filename}")
        if Path(member.filename).suffix.lower() not in ALLOWED:
            raise ThemeRefused(f"file type not allowed: {member.filename}")
    if sum(member.compress_size for member in members) > MAX_BYTES:
        raise ThemeRefused("the theme is larger than 20 MiB")


def unpack_theme(shop_id: int, upload: BinaryIO) -> Path:
    """Unpacks the upload and returns the folder of the new theme version."""
    try:
        with zipfile.ZipFile(upload) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            check_members(members)
            folder = new_theme_folder(shop_id)
            for member in members:
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
    except zipfile.BadZipFile as error:
        raise ThemeRefused("not a readable zip file") from error
    return folder
