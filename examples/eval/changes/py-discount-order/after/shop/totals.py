"""Checkout totals, see docs/vouchers.md."""
from dataclasses import dataclass

from shop.basket import Basket


@dataclass(frozen=True)
class Totals:
    goods_cents: int
    discount_cents: int
    shipping_cents: int

    @property
    def payable_cents(self) -> int:
        return self.goods_cents - self.discount_cents + self.shipping_cents


def best_percent(basket: Basket) -> int:
    return max((voucher.percent for voucher in basket.vouchers), default=0)


def fixed_cents(basket: Basket) -> int:
    return sum(voucher.amount_cents for voucher in basket.vouchers)


def checkout_totals(basket: Basket) -> Totals:
    goods = sum(line.total_cents for line in basket.lines)
    remaining = max(goods - fixed_cents(basket), 0)
    remaining -= remaining * best_percent(basket) // 100
    return Totals(
        goods_cents=goods,
        discount_cents=goods - remaining,
        shipping_cents=basket.shipping_cents,
    )
