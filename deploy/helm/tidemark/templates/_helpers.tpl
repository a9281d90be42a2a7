{{- define "tidemark.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* (dict "root" $ "component" "center") */}}
{{- define "tidemark.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tidemark.labels" -}}
{{ include "tidemark.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* What a pod has, and no selector asks for: the labels of its component, and those of the values. */}}
{{- define "tidemark.podLabels" -}}
{{ include "tidemark.labels" . }}
{{- with .root.Values.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tidemark.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Pods whose processes start Spark need the rights of a driver; the one that starts Jobs those of a launcher. */}}
{{- define "tidemark.serviceAccount" -}}
{{- $name := include "tidemark.fullname" .root -}}
{{- if and (eq .component "dagster") (eq .root.Values.runs.launcher "kubernetes") }}{{ $name }}-launcher
{{- else if and .root.Values.spark.enabled (ne .component "distribution") }}{{ $name }}-driver
{{- else }}{{ $name }}{{ end }}
{{- end }}

{{- define "tidemark.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "tidemark.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Names that the center answers to: those of its Service, and those of the ingress. */}}
{{- define "tidemark.allowedHosts" -}}
{{- $service := printf "%s-center" (include "tidemark.fullname" .) -}}
{{- $namespace := .Release.Namespace -}}
{{- $names := list $service (printf "%s.%s" $service $namespace) (printf "%s.%s.svc" $service $namespace) (printf "%s.%s.svc.cluster.local" $service $namespace) -}}
{{- if .Values.center.ingress.enabled }}{{ $names = append $names .Values.center.ingress.host }}{{ end -}}
{{- join " " (concat $names .Values.center.allowedHosts) -}}
{{- end }}

{{/* Which variables of the Secret a component gets, beside those of the lake's store: no more than it needs. */}}
{{- define "tidemark.secretNames" -}}
{{- $names := list "TIDEMARK_STATE" -}}
{{- if has .component (list "center" "dagster" "workers" "run") }}{{ $names = concat $names (list "TIDEMARK_OLAP" "DAGSTER_POSTGRES_URL") }}{{ end -}}
{{- if has .component (list "center" "dagster") }}{{ $names = append $names "TIDEMARK_TOKEN" }}{{ end -}}
{{- range .root.Values.secretVariables }}
{{- $ofAll := hasPrefix "TIDEMARK_KAFKA_" . -}}
{{- $ofCapture := and (eq $.component "capture") (eq . "TIDEMARK_DATABASES") -}}
{{- if and (ne (include "tidemark.isOfStore" .) "true") (or $ofAll $ofCapture (has $.component (list "center" "dagster" "workers" "run"))) }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{- $names | uniq | toJson -}}
{{- end }}

{{- define "tidemark.env" -}}
- {name: TIDEMARK_DATA, value: /var/lib/tidemark/data}
{{- if ne .component "run" }}{{/* there the launcher says it */}}
- {name: DAGSTER_HOME, value: /var/lib/tidemark}
{{- end }}
- {name: TIDEMARK_WAREHOUSE, value: {{ .root.Values.warehouse | quote }}}
- {name: TIDEMARK_POOLS, value: {{ .root.Values.pools | quote }}}
{{- with .root.Values.kafka.bootstrapServers }}
- {name: TIDEMARK_KAFKA, value: {{ . | quote }}}
{{- end }}
{{- with include "tidemark.storeEnv" .root | trim }}
{{ . }}
{{- end }}
{{- if eq .component "center" }}
- {name: TIDEMARK_ALLOWED_HOSTS, value: {{ include "tidemark.allowedHosts" .root | quote }}}
{{- else if and (eq .component "dagster") .root.Values.dagster.ingress.enabled }}
- {name: TIDEMARK_ALLOWED_HOSTS, value: {{ .root.Values.dagster.ingress.host | quote }}}
{{- end }}
{{- if and .root.Values.spark.enabled (ne .component "distribution") }}
- {name: TIDEMARK_SPARK_MASTER, value: {{ .root.Values.spark.master | quote }}}
- {name: TIDEMARK_SPARK_CONF, value: /etc/tidemark/spark/spark.conf}
- {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
- {name: SPARK_LOCAL_HOSTNAME, value: {{ include "tidemark.driverHost" . | quote }}}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- range include "tidemark.secretNames" . | fromJsonArray }}
- {name: {{ . }}, valueFrom: {secretKeyRef: {name: {{ $.root.Values.existingSecret }}, key: {{ . }}}}}
{{- end }}
{{- end }}

{{/* Executors find a driver by its pod's name in the headless Service; the pod of a Job has none, and is found by its address. */}}
{{- define "tidemark.driverHost" -}}
{{- if eq .component "run" }}$(POD_IP){{ else }}$(POD_NAME).{{ include "tidemark.fullname" .root }}-{{ .component }}-pods.{{ .root.Release.Namespace }}.svc{{ end }}
{{- end }}

{{- define "tidemark.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: private, mountPath: /var/lib/tidemark}
{{- if has .component (list "center" "dagster" "workers") }}
- {name: dagster, mountPath: /var/lib/tidemark/dagster.yaml, subPath: dagster.yaml, readOnly: true}
{{- end }}
{{- if and .root.Values.spark.enabled (ne .component "distribution") }}
- {name: spark, mountPath: /etc/tidemark/spark, readOnly: true}
{{- end }}
{{- with include "tidemark.storeMounts" .root | trim }}
{{ . }}
{{- end }}
{{- range $number, $file := .root.Values.secretFiles }}
- {name: {{ printf "secret-%d" $number }}, mountPath: {{ $file.mountPath | quote }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "tidemark.volumes" -}}
- {name: tmp, emptyDir: {}}
{{- if not (dig "volume" "persistent" false (index .root.Values (.component | replace "run" "runs"))) }}
- {name: private, emptyDir: {}}
{{- end }}
{{- if has .component (list "center" "dagster" "workers") }}
- {name: dagster, configMap: {name: {{ include "tidemark.fullname" .root }}-dagster}}
{{- end }}
{{- if and .root.Values.spark.enabled (ne .component "distribution") }}
- {name: spark, configMap: {name: {{ include "tidemark.fullname" .root }}-spark}}
{{- end }}
{{- with include "tidemark.storeVolumes" .root | trim }}
{{ . }}
{{- end }}
{{- range $number, $file := .root.Values.secretFiles }}
- {name: {{ printf "secret-%d" $number }}, secret: {secretName: {{ $file.secretName }}, defaultMode: 0440}}
{{- end }}
{{- end }}

{{/* A container of the image: (dict "root" "component" "args" "ports" "probes") */}}
{{- define "tidemark.container" -}}
name: {{ .component }}
image: {{ include "tidemark.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ .args | toJson }}
env:
  {{- include "tidemark.env" . | nindent 2 }}
{{- with .port }}
ports:
  - {name: http, containerPort: {{ . }}, protocol: TCP}
{{- end }}
resources: {{ (index .root.Values .component).resources | toJson }}
securityContext:
  {{- include "tidemark.containerSecurity" . | nindent 2 }}
volumeMounts:
  {{- include "tidemark.mounts" . | nindent 2 }}
{{- end }}

{{/* What the pods of all components have in common. */}}
{{- define "tidemark.pod" -}}
metadata:
  labels:
    {{- include "tidemark.podLabels" . | nindent 4 }}
  annotations:
    checksum/config: {{ include (print .root.Template.BasePath "/configmaps.yaml") .root | sha256sum }}
spec:
  serviceAccountName: {{ include "tidemark.serviceAccount" . }}
  automountServiceAccountToken: {{ ne (include "tidemark.serviceAccount" .) (include "tidemark.fullname" .root) }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .grace }}
  securityContext:
    {{- include "tidemark.podSecurity" . | nindent 4 }}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - {name: {{ . }}}
    {{- end }}
  {{- end }}
  {{- with (index .root.Values .component).nodeSelector }}
  nodeSelector: {{ . | toJson }}
  {{- end }}
  {{- with (index .root.Values .component).tolerations }}
  tolerations: {{ . | toJson }}
  {{- end }}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                {{- include "tidemark.selector" . | nindent 16 }}
  volumes:
    {{- include "tidemark.volumes" . | nindent 4 }}
{{- end }}

{{- define "tidemark.claims" -}}
{{- with (index .root.Values .component).volume }}
{{- if .persistent }}
volumeClaimTemplates:
  - metadata:
      name: private
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources: {requests: {storage: {{ .size }}}}
{{- end }}
{{- end }}
{{- end }}
