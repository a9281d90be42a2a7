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
        {{- include "tidemark.podLabels" $run | nindent 8 }}
    job_spec_config:
      ttl_seconds_after_finished: 86400
{{- end }}

{{/* The pod that Spark makes each executor of: confined as all others are. */}}
{{- define "tidemark.executor" -}}
apiVersion: v1
kind: Pod
metadata:
  labels:
    {{- include "tidemark.podLabels" (dict "root" . "component" "executor") | nindent 4 }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    fsGroup: 10001 # who may read the files of Secrets; the image's user is not known
    seccompProfile: {type: RuntimeDefault}
  volumes:
    - {name: tmp, emptyDir: {}}
    - {name: work, emptyDir: {}}
    {{- with include "tidemark.storeVolumes" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
  containers:
    - name: executor
      securityContext:
        {{- include "tidemark.containerSecurity" . | nindent 8 }}
      {{- with include "tidemark.storeEnv" . | trim }}
      env:
        {{- . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: work, mountPath: /opt/spark/work-dir}
        {{- with include "tidemark.storeMounts" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
{{- end }}
