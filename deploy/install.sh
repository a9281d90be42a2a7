#!/bin/sh
# The environment of the image, in a folder of its own: sh deploy/install.sh FOLDER, in a copy of the repository.
# Packages by their hashes, the engine, the jars of Spark and of S3 by the engine's own modules, and the JVM's kept classes.
set -eu
target="$1"
python3 -m venv "$target"
python3 deploy/image_requirements.py requirements.lock pyproject.toml > "$target/requirements.txt"
pip() { "$target/bin/python" -m pip --no-cache-dir --quiet --disable-pip-version-check "$@"; }
pip install --no-deps --require-hashes -r "$target/requirements.txt"
pip install --no-deps --no-build-isolation .
pip check
"$target/bin/python" -m tidemark.spark.jars
"$target/bin/python" -m tidemark.spark.object_store.s3_jars
"$target/bin/python" -m tidemark.spark.write_class_archive
