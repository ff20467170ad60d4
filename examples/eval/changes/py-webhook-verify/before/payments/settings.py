from dataclasses import dataclass


@dataclass(frozen=True)
class WebhookSettings:
    """`secrets` holds the current secret and, during a rotation, the previous one.
    It is never empty; the loader refuses such a configuration."""

    secrets: tuple[bytes, ...]
    tolerance_seconds: int = 300
