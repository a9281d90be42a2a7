#!/bin/sh
# Asks for known vulnerabilities of the locked packages: audit.sh PIP_AUDIT LOCK. Ends with 0 where none is known, with 1
# where some are, and with 3 where the feed does not answer: then nothing is known. Used by `make audit`.
set -u
pip_audit="$1"
lock="$2"
# What is asked of it is one version of one package: a mirror may have the files, and lists of them, and not that.
release=$(sed -n 's/^\([A-Za-z0-9._-]*\)==\([^ ;\\]*\).*/\1\/\2/p' "$lock" | head -n 1)
feed="${AUDIT_FEED:-https://pypi.org/pypi}/$release/json"

if ! said=$("$(dirname "$pip_audit")/python" -c '
import json, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=20) as answer:
    json.load(answer)["vulnerabilities"]
' "$feed" 2>&1); then
  echo "Nothing was audited: the feed of known vulnerabilities does not answer here." >&2
  echo "  asked     $feed" >&2
  echo "  answered  $(printf '%s\n' "$said" | tail -n 1)" >&2
  echo "  A mirror of packages alone does not have the feed. Run 'make audit' where that address is reachable." >&2
  exit 3
fi
exec "$pip_audit" --requirement "$lock" --require-hashes --disable-pip --strict
