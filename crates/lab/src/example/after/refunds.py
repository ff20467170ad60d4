"""Refunds of orders."""

from shop import db, mail


def find(order_id):
    return db.one("SELECT id, customer, paid, refunded FROM orders WHERE id = %s", order_id)


def open_amount(order):
    return order.paid - order.refunded


def refund(request, order_id, amount):
    order = find(order_id)
    if amount > open_amount(order):
        raise ValueError("more than was paid")
    with db.transaction():
        db.run("UPDATE orders SET refunded = %s WHERE id = %s", order.refunded + amount, order_id)
    mail.send(order.customer, f"We return {amount} to you.")
    return open_amount(order) - amount
