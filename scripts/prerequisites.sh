#!/bin/sh
# Checks what pip cannot install, and says what to install. Used by `make setup`.
set -u
python="${1:-python3}"
failed=0

if ! "$python" -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] < (3, 14)))' 2>/dev/null; then
  found=$("$python" --version 2>&1 || echo "nothing")
  echo "Tidemark needs Python 3.11 to 3.13; found: $found." >&2
  echo "  Install it (Debian/Ubuntu: apt-get install python3 python3-venv) or name another: make PYTHON=/path/to/python3.11 setup" >&2
  failed=1
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  echo "Tidemark needs Python's venv module. Debian/Ubuntu: apt-get install python3-venv" >&2
  failed=1
fi

java_bin="${JAVA_HOME:+$JAVA_HOME/bin/}java"
major=$("$java_bin" -version 2>&1 | sed -n 's/.*version "\([0-9][0-9]*\).*/\1/p' | head -n 1)
if [ -z "$major" ] || [ "$major" -lt 17 ]; then
  echo "Tidemark needs Java 17 or newer for Spark; found: ${major:-none}." >&2
  echo "  Install it (Debian/Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) or set JAVA_HOME." >&2
  failed=1
fi
exit "$failed"
