class ThemeRefused(Exception):
    """Shown to the shop owner; the text names the rule that was broken."""
