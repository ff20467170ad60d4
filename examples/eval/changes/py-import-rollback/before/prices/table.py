import threading


class PriceTable:
    """Prices by article. Changes happen between `begin` and `commit` or `rollback`,
    while `lock` is held."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._prices: dict[str, int] = {}
        self._pending: dict[str, int] = {}

    def begin(self) -> None:
        self._pending = {}

    def set(self, article: str, cents: int) -> None:
        self._pending[article] = cents

    def commit(self) -> None:
        self._prices = {**self._prices, **self._pending}
        self._pending = {}

    def rollback(self) -> None:
        self._pending = {}
