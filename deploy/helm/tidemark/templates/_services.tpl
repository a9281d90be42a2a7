{{/* The pods' own names: what a StatefulSet needs, and how executors find drivers - also of a pod that is not ready yet. */}}
{{- define "tidemark.headless" }}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "tidemark.fullname" .root }}-{{ .component }}-pods
  labels:
    {{- include "tidemark.labels" . | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "tidemark.selector" . | nindent 4 }}
{{- end }}

{{- define "tidemark.ingress" }}
{{- $ingress := (index .root.Values .component).ingress }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include "tidemark.fullname" .root }}-{{ .component }}
  labels:
    {{- include "tidemark.labels" . | nindent 4 }}
  {{- with $ingress.annotations }}
  annotations: {{ . | toJson }}
  {{- end }}
spec:
  {{- with $ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- with $ingress.tlsSecret }}
  tls:
    - {hosts: [{{ $ingress.host | quote }}], secretName: {{ . }}}
  {{- end }}
  rules:
    - host: {{ $ingress.host | quote }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: {{ include "tidemark.fullname" .root }}-{{ .component }}, port: {name: http}}}
{{- end }}
