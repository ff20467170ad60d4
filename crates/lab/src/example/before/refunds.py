"""Refunds of orders."""

from shop import db, mail


def find(order_id):
    return db.one("SELECT id, customer, paid, refunded FROM orders WHERE id = %s", order_id)


def open_amount(order):
    return order.paid - order.refunded
