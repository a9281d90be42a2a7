{{/* dagster-k8s: each run is a Job whose pod has what the others have. */}}
{{- define "tidemark.jobs" -}}
{{- $run := dict "root" . "component" "run" -}}
module: dagster_k8s
class: K8sRunLauncher
config:
  job_namespace: {{ .Release.Namespace }}
  job_image: {{ include "tidemark.image" . | quote }}
  image_pull_policy: {{ .Values.image.pullPolicy }}
  image_pull_secrets: [{{ range $number, $secret := .Values.image.pullSecrets }}{{ if $number }}, {{ end }}{name: {{ $secret }}}{{ end }}]
  service_account_name: {{ include "tidemark.serviceAccount" $run }}
  instance_config_map: {{ include "tidemark.fullname" . }}-dagster
  dagster_home: /var/lib/tidemark
  run_k8s_config:
    container_config:
      env:
        {{- include "tidemark.env" $run | nindent 8 }}
      volume_mounts:
        {{- include "tidemark.mounts" $run | nindent 8 }}
      resources: {{ .Values.runs.resources | toJson }}
      security_context:
        {{- include "tidemark.containerSecurity" . | nindent 8 }}
    pod_spec_config:
      automount_service_account_token: {{ .Values.spark.enabled }}
      enable_service_links: false
      security_context:
        {{- include "tidemark.podSecurity" . | nindent 8 }}
      volumes:
        {{- include "tidemark.volumes" $run | nindent 8 }}
    pod_template_spec_metadata:
      labels:
        {{- include "tidemark.labels" $run | nindent 8 }}
    job_spec_config:
      ttl_seconds_after_finished: 86400
{{- end }}

{{/* The pod that Spark makes each executor of: confined as all others are. */}}
{{- define "tidemark.executor" -}}
apiVersion: v1
kind: Pod
metadata:
  labels:
    {{- include "tidemark.labels" (dict "root" . "component" "executor") | nindent 4 }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    seccompProfile: {type: RuntimeDefault}
  volumes:
    - {name: tmp, emptyDir: {}}
    - {name: work, emptyDir: {}}
  containers:
    - name: executor
      securityContext:
        {{- include "tidemark.containerSecurity" . | nindent 8 }}
      env:
        {{- with .Values.objectStore.region }}
        - {name: AWS_REGION, value: {{ . | quote }}}
        {{- end }}
        {{- with .Values.objectStore.endpoint }}
        - {name: AWS_ENDPOINT_URL, value: {{ . | quote }}}
        {{- end }}
        {{- range .Values.secretVariables }}
        {{- if hasPrefix "AWS_" . }}
        - {name: {{ . }}, valueFrom: {secretKeyRef: {name: {{ $.Values.existingSecret }}, key: {{ . }}}}}
        {{- end }}
        {{- end }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: work, mountPath: /opt/spark/work-dir}
{{- end }}
