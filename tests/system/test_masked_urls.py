"""No secret of a URL is shown, in whatever form it is given."""

import pytest
from sqlalchemy import make_url

from tidemark.system.masked_urls import masked_url, without_secrets

CANARY = "c4n/ary %&"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:c4n%2Fary%20%25%26@h:5432/db", "postgresql://u:***@h:5432/db"),
        ("postgresql://h/db?user=u&password=c4n%2Fary%20%25%26", "postgresql://h/db?password=***&user=u"),
        ("postgresql://h/db?sslpassword=c4n%2Fary%20%25%26", "postgresql://h/db?sslpassword=***"),
        ("postgresql://h/db?PASSWORD=c4n%2Fary%20%25%26", "postgresql://h/db?PASSWORD=***"),
        ("postgresql://h/db?pasword=c4n%2Fary%20%25%26", "postgresql://h/db?pasword=***"),
        ("postgresql://u@h/db?sslmode=verify-full", "postgresql://u@h/db?sslmode=verify-full"),
        ("sqlite:////data/state.db", "sqlite:////data/state.db"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert masked_url(make_url(url)) == shown
    assert "c4n" not in masked_url(make_url(url))


@pytest.mark.parametrize("form", ["postgresql://u:{}@h/db", "postgresql://h/db?user=u&password={}"])
def test_messages_of_drivers_are_shown_without_secrets(form: str) -> None:
    url = make_url(form.format("c4n%2Fary%20%25%26"))
    assert without_secrets(f"no user with {CANARY!r}", url) == "no user with '***'"
    assert without_secrets("nothing", make_url("postgresql://h/db?password=")) == "nothing"
