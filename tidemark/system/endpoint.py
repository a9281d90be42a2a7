"""The address of an object store that is not its provider's own."""

from urllib.parse import urlsplit

from tidemark.system.location_error import LocationError


def known_endpoint(text: str, error: LocationError) -> str:
    """`http(s)://host:port` of a setting; raises `error` for anything else, a path or a user among it."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    # A user or a query may be a secret: the text is not repeated then.
    if not usable or parts.username or parts.password or parts.query or parts.fragment or parts.path.strip("/"):
        raise error
    return f"{parts.scheme}://{parts.netloc}"
