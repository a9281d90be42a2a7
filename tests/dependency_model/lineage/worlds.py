"""The small world that the corpus speaks of: tables of every period in Paris, from 2024 on."""

from __future__ import annotations

from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.parsed_query import Query, read_query
from tidemark.dependency_model.time import Calendar, Period

PARIS = Calendar("Europe/Paris")
START = "2024-01-01"
_DAILY = "orders users clicks total calendar rates returns stores items"
SUBJECTS = {
    **{f"d_{name}": EntityOutline(f"d_{name}", Period.DAY, PARIS, START) for name in _DAILY.split()},
    **{f"h_{name}": EntityOutline(f"h_{name}", Period.HOUR, PARIS, START) for name in ("clicks", "orders")},
    "h_clicks_utc": EntityOutline("h_clicks_utc", Period.HOUR, Calendar("UTC"), START),
    "e_events": EntityOutline("e_events", Period.FIVE_MINUTES, PARIS, START),
    "w_sales": EntityOutline("w_sales", Period.WEEK, PARIS, START),
    "m_targets": EntityOutline("m_targets", Period.MONTH, PARIS, START),
    "s_regions": EntityOutline("s_regions", None, PARIS),
}
VIEWS: dict[str, Query] = {
    "v_paid": read_query(
        "SELECT o.dt, o.user_id FROM d_orders AS o JOIN d_users AS u ON u.dt = o.dt AND u.user_id = o.user_id",
        file="v_paid.sql",
    )
}
