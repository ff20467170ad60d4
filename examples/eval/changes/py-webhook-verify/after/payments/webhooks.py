"""Signature check of incoming webhooks."""
import hashlib
import hmac

from payments.settings import WebhookSettings


def parse_header(header: str) -> dict[str, str]:
    fields = {}
    for part in header.split(","):
        name, _, value = part.strip().partition("=")
        fields[name] = value
    return fields


def expected_signature(secret: bytes, timestamp: str, body: bytes) -> bytes:
    message = timestamp.encode() + b"." + body
    return hmac.new(secret, message, hashlib.sha256).digest()


def is_authentic(settings: WebhookSettings, header: str, body: bytes, now: int) -> bool:
    """Returns true if the header signs `body` and its time is close to `now`."""
    fields = parse_header(header)
    timestamp = fields.get("t", "")
    if not (timestamp.isascii() and timestamp.isdigit()) or len(timestamp) > 12:
        return False
    try:
        given = bytes.fromhex(fields.get("v1", ""))
    except ValueError:
        return False
    matches = False
    for secret in settings.secrets:
        wanted = expected_signature(secret, timestamp, body)
        matches |= hmac.compare_digest(wanted, given)
    return matches and abs(now - int(timestamp)) <= settings.tolerance_seconds
