"""Signature check of incoming webhooks."""
import hashlib
import hmac

from payments.settings import WebhookSettings


def is_authentic(settings: WebhookSettings, header: str, body: bytes) -> bool:
    """Returns true if the header holds the signature of `body`."""
    wanted = hmac.new(settings.secrets[0], body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), header.encode())
