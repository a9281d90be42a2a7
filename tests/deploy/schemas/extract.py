"""Extract the schemas that the chart needs: `python -m tests.deploy.schemas.extract SWAGGER`.

SWAGGER is `api/openapi-spec/swagger.json` of the Go module k8s.io/kubernetes (Apache-2.0) in the version of `VERSION`:
`go mod download -json k8s.io/kubernetes@VERSION` says where it is. Descriptions are left out, all else is as there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION: Final = "v1.36.3"
TARGET: Final = Path(__file__).with_name(f"kubernetes-{VERSION}.json")
KINDS: Final = (
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.apps.v1.StatefulSet",
    "io.k8s.api.batch.v1.Job",
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.Pod",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.core.v1.ServiceAccount",
    "io.k8s.api.networking.v1.Ingress",
    "io.k8s.api.networking.v1.NetworkPolicy",
    "io.k8s.api.policy.v1.PodDisruptionBudget",
    "io.k8s.api.rbac.v1.Role",
    "io.k8s.api.rbac.v1.RoleBinding",
)
_SOURCE: Final = f"k8s.io/kubernetes {VERSION}, api/openapi-spec/swagger.json, Apache-2.0; descriptions left out"


def extract(swagger: dict[str, Any]) -> str:
    """The text of the file: the kinds and all that they refer to, a definition a line."""
    needed, waiting = set[str](), list(KINDS)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += references(swagger["definitions"][name])
    lines = [
        f"{json.dumps(name)}: {json.dumps(_without_words(swagger['definitions'][name]), sort_keys=True)}"
        for name in sorted(needed)
    ]
    return f'{{"source": {json.dumps(_SOURCE)},\n"definitions": {{\n' + ",\n".join(lines) + "\n}}\n"


def references(schema: Any) -> Iterator[str]:
    """The names of the definitions that a part of a schema refers to."""
    parts = schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ()
    for key, part in parts:
        if key == "$ref" and isinstance(part, str):
            yield part.rsplit("/", 1)[1]
        else:
            yield from references(part)


def _without_words(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_words(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_words(part)
        for key, part in schema.items()
        if not (key == "description" and isinstance(part, str)) and not str(key).startswith("x-kubernetes-patch")
    }


if __name__ == "__main__":
    TARGET.write_text(extract(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), encoding="utf-8")
