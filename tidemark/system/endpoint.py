"""The address of an object store other than its provider's."""

from urllib.parse import urlsplit

from tidemark.system.location_error import LocationError


def known_endpoint(text: str, error: LocationError) -> str:
    """The `http(s)://host:port` of a setting. Raises `error` for anything else, such as a path or a user."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    # A user or a query may be a secret, so the text is not repeated.
    if not usable or parts.username or parts.password or parts.query or parts.fragment or parts.path.strip("/"):
        raise error
    return f"{parts.scheme}://{parts.netloc}"
