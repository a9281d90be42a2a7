"""The operating system's account of a process, even if the password file does not have it."""

from __future__ import annotations

import getpass
import os
import pwd


def account_name() -> str:
    """The account's name, or its number if neither the environment nor the password file has a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # OSError from Python 3.13 on
        return str(os.getuid())


def unknown_account() -> int | None:
    """The number of an account that the password file does not have; Hadoop's login, and so Spark, needs an entry."""
    number = os.geteuid()
    try:
        pwd.getpwuid(number)
    except KeyError:
        return number
    return None
