#!/bin/sh
# The environment of the image, in a folder of its own: sh deploy/install.sh FOLDER "s3 gs abfss", in a copy of the
# repository. Packages by their hashes, the engine, the jars of Spark and of the object stores that are named by the
# engine's own modules, and the JVM's kept classes.
set -eu
target="$1"
modules=""
for store in $2; do
  case "$store" in
    s3) modules="$modules s3_jars" ;;
    gs) modules="$modules gcs_jars" ;;
    abfss) modules="$modules azure_jars" ;;
    *)
      echo "OBJECT_STORES: expected s3, gs, abfss or several of them with blanks between; found '$store' in '$2'." >&2
      echo "  Nothing was installed. Build again with --build-arg OBJECT_STORES=\"s3 gs\", or without it for s3." >&2
      exit 2
      ;;
  esac
done
python3 -m venv "$target"
python3 deploy/image_requirements.py requirements.lock pyproject.toml > "$target/requirements.txt"
pip() { "$target/bin/python" -m pip --no-cache-dir --quiet --disable-pip-version-check "$@"; }
pip install --no-deps --require-hashes -r "$target/requirements.txt"
pip install --no-deps --no-build-isolation .
pip check
"$target/bin/python" -m tidemark.spark.jars
for module in $modules; do
  "$target/bin/python" -m "tidemark.spark.object_store.$module"
done
"$target/bin/python" -m tidemark.spark.write_class_archive
