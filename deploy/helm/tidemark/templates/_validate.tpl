{{/* What a schema cannot say, or not in words that help. */}}
{{- define "tidemark.validate" -}}
{{- if not .Values.image.repository }}{{ fail "image.repository is empty: name the image that you built by deploy/Dockerfile, such as registry.example/tidemark" }}{{ end -}}
{{- if not .Values.warehouse }}{{ fail "warehouse is empty: name the place of the Delta tables in a bucket, such as s3://bucket/prefix, gs://bucket/prefix or abfss://container@account.dfs.core.windows.net/prefix" }}{{ end -}}
{{- include "tidemark.validateStore" . -}}
{{- if not .Values.existingSecret }}{{ fail "existingSecret is empty: name a Secret with the keys TIDEMARK_STATE, TIDEMARK_OLAP, DAGSTER_POSTGRES_URL and TIDEMARK_TOKEN (values.yaml says what they hold)" }}{{ end -}}
{{- if and (or .Values.capture.enabled .Values.distribution.enabled) (not .Values.kafka.bootstrapServers) }}{{ fail "kafka.bootstrapServers is empty: capture and distribution read topics, as pods share no folder of change files; name host:9092, or set capture.enabled and distribution.enabled to false" }}{{ end -}}
{{- if and (eq .Values.runs.launcher "kubernetes") .Values.center.enabled }}{{ fail "runs.launcher is kubernetes and center.enabled is true: the center hands runs to warm workers only; set center.enabled to false (Dagster's daemon then decides), or runs.launcher to warm" }}{{ end -}}
{{- if and (eq .Values.runs.launcher "kubernetes") (not .Values.dagster.enabled) }}{{ fail "runs.launcher is kubernetes and dagster.enabled is false: nothing would start runs; set dagster.enabled to true" }}{{ end -}}
{{- if and (eq .Values.runs.launcher "kubernetes") .Values.workers.enabled }}{{ fail "runs.launcher is kubernetes and workers.enabled is true: Jobs go to no workers; set workers.enabled to false, or runs.launcher to warm" }}{{ end -}}
{{- if and .Values.spark.enabled (not .Values.spark.executorImage) }}{{ fail "spark.executorImage is empty: name an image of Apache Spark 4.2.0 with Python 3.11" }}{{ end -}}
{{- if and .Values.dagster.proxy.enabled (not .Values.dagster.proxy.image) }}{{ fail "dagster.proxy.image is empty: name the proxy that asks for a password" }}{{ end -}}
{{- if and .Values.dagster.ingress.enabled (not .Values.dagster.proxy.enabled) }}{{ fail "dagster.ingress.enabled is true and dagster.proxy.enabled is false: Dagster asks for no password; set a proxy that does" }}{{ end -}}
{{- include "tidemark.validatePorts" . -}}
{{- range $name, $one := dict "center" .Values.center "dagster" .Values.dagster }}
{{- if and $one.ingress.enabled (not $one.ingress.host) }}{{ fail (printf "%s.ingress.host is empty: name the host that people ask for" $name) }}{{ end -}}
{{- end -}}
{{- end }}

{{/* What is of another store than the lake's would be ignored, and what is missing found out by a pod. */}}
{{- define "tidemark.validateStore" -}}
{{- $store := .Values.objectStore -}}
{{- $scheme := include "tidemark.storeScheme" . -}}
{{- if and (eq $scheme "s3") (not (or $store.region $store.endpoint)) }}{{ fail "objectStore.region is empty: name the bucket's region, such as eu-west-3, or for a server of your own objectStore.endpoint" }}{{ end -}}
{{- $given := dict "s3" (list "objectStore.region or objectStore.endpoint" (or $store.region $store.endpoint))
  "gs" (list "objectStore.google.keySecret" $store.google.keySecret)
  "abfss" (list "objectStore.azure" (or $store.azure.clientId $store.azure.tenantId $store.azure.authorityHost)) -}}
{{- range $of, $value := $given }}
{{- if and (ne $of $scheme) (last $value) }}{{ fail (printf "%s is for a warehouse in %s://, and warehouse begins with %s://: leave it empty, or correct warehouse" (first $value) $of $scheme) }}{{ end -}}
{{- end -}}
{{- if and (has "AZURE_CLIENT_SECRET" .Values.secretVariables) (not (and $store.azure.clientId $store.azure.tenantId)) }}{{ fail "secretVariables has AZURE_CLIENT_SECRET, and objectStore.azure lacks clientId or tenantId: name whose secret it is by both" }}{{ end -}}
{{- end }}

{{/* A port that the policies leave out would look like a server that does not answer. */}}
{{- define "tidemark.validatePorts" -}}
{{- if .Values.networkPolicy.enabled -}}
{{- range splitList "," .Values.kafka.bootstrapServers }}
{{- if and . (not (has (splitList ":" . | last) (toStrings $.Values.networkPolicy.kafka.ports))) }}{{ fail (printf "kafka.bootstrapServers has %s, which networkPolicy.kafka.ports does not let through: add its port there" .) }}{{ end -}}
{{- end -}}
{{- with .Values.objectStore.endpoint -}}
{{- $scheme := ternary "443" "80" (hasPrefix "https:" .) -}}
{{- $port := regexFind ":[0-9]+/?$" . | trimPrefix ":" | trimSuffix "/" | default $scheme -}}
{{- if not (has $port (toStrings $.Values.networkPolicy.objectStore.ports)) }}{{ fail (printf "objectStore.endpoint has port %s, which networkPolicy.objectStore.ports does not let through: add it there" $port) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end }}
