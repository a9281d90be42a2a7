"""Checks for a Java that can run Spark 4.2. JDKs from PyPI lack a module that it needs."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

MINIMUM = 17
VECTOR_MODULE = "jdk.incubator.vector"
INSTALL = "install a JDK or JRE 17 or newer (Debian and Ubuntu: openjdk-17-jre-headless), or set JAVA_HOME to one"


def java_command(env: Mapping[str, str] = os.environ) -> str:
    """The java that Spark's own scripts would start: JAVA_HOME's, else the first on PATH."""
    home = env.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def java_problem(env: Mapping[str, str] = os.environ) -> str | None:
    """The problem with Java on this machine and what to install, in one sentence; None if there is none."""
    command = java_command(env)
    try:
        version_text = _run(command, "-version", env=env)
    except OSError as error:
        return f"Java {MINIMUM}+ is needed and '{command}' does not start ({error.strerror}): {INSTALL}"
    except subprocess.CalledProcessError as error:
        return f"Java {MINIMUM}+ is needed and '{command} -version' ended with status {error.returncode}: {INSTALL}"
    major = java_major(version_text)
    if major is None or major < MINIMUM:
        return f"Java {MINIMUM}+ is needed, '{command}' is {version_text.splitlines()[0].strip()}: {INSTALL}"
    try:
        _run(command, f"--add-modules={VECTOR_MODULE}", "-version", env=env)
    except subprocess.CalledProcessError:
        return f"'{command}' is Java {major} without the module {VECTOR_MODULE}, which Spark needs: {INSTALL}"
    return None


def java_major(version_text: str) -> int | None:
    """17 for `openjdk version "17.0.15"`, 8 for `java version "1.8.0_402"`; None if the text has no version."""
    match = re.search(r'version "(?:1\.)?(\d+)', version_text)
    return int(match.group(1)) if match else None


def _run(*command: str, env: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=dict(env), capture_output=True, text=True, check=True, timeout=60)
    return done.stderr or done.stdout
