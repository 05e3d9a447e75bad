"""The statements behind tokens and reservations."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from moot.store import AccessToken, Reservation
from moot.store.rows import reservation_of, token_values

Sql = Callable[[str], str]


def add_token(sql: Sql, connection: sqlite3.Connection, token: AccessToken, now: float) -> bool:
    values = {**token_values(token), "now": now}
    connection.execute(sql("expire_tokens"), values)
    return connection.execute(sql("insert_token"), values).rowcount > 0


def reserve(
    sql: Sql, connection: sqlite3.Connection, reservation: Reservation, now: float, keep_seconds: float
) -> Reservation:
    key = {"key": reservation.key}
    connection.execute(sql("forget_reservations"), {"before": now - keep_seconds})
    values = {**key, "hash": reservation.hash, "debate_id": reservation.debate_id, "now": now}
    connection.execute(sql("reserve"), values)
    row = connection.execute(sql("reservation"), key).fetchone()
    return reservation_of(row)
