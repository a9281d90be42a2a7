{{/* How the lake's store is reached, in every pod and in Spark's executors: no other secret than its. */}}
{{- define "tidemark.storeEnv" -}}
{{- $store := .Values.objectStore -}}
{{- $given := list
  (list "AWS_REGION" $store.region) (list "AWS_ENDPOINT_URL" $store.endpoint)
  (list "GOOGLE_APPLICATION_CREDENTIALS" (ternary "/etc/tidemark/google/key.json" "" (ne $store.google.keySecret "")))
  (list "AZURE_CLIENT_ID" $store.azure.clientId) (list "AZURE_TENANT_ID" $store.azure.tenantId)
  (list "AZURE_AUTHORITY_HOST" $store.azure.authorityHost) -}}
{{- range $given }}
{{- if last . }}
- {name: {{ first . }}, value: {{ last . | quote }}}
{{- end }}
{{- end }}
{{- range .Values.secretVariables }}
{{- if eq (include "tidemark.isOfStore" .) "true" }}
- {name: {{ . }}, valueFrom: {secretKeyRef: {name: {{ $.Values.existingSecret }}, key: {{ . }}}}}
{{- end }}
{{- end }}
{{- end }}

{{/* of the name of a variable */}}
{{- define "tidemark.isOfStore" -}}
{{- regexMatch "^(AWS|AZURE)_" . -}}
{{- end }}

{{- define "tidemark.storeMounts" -}}
{{- if .Values.objectStore.google.keySecret }}
- {name: google, mountPath: /etc/tidemark/google, readOnly: true}
{{- end }}
{{- end }}

{{- define "tidemark.storeVolumes" -}}
{{- with .Values.objectStore.google.keySecret }}
- {name: google, secret: {secretName: {{ . }}, defaultMode: 0440, items: [{key: key.json, path: key.json}]}}
{{- end }}
{{- end }}

{{/* Whether pods have their credentials from the machine's metadata server: no secret is given, and no webhook puts a token's file in. */}}
{{- define "tidemark.asksMetadataServer" -}}
{{- $secrets := .Values.secretVariables -}}
{{- $others := dict
  "s3" (or (has "AWS_ACCESS_KEY_ID" $secrets) (hasKey .Values.serviceAccount.annotations "eks.amazonaws.com/role-arn"))
  "gs" (ne .Values.objectStore.google.keySecret "")
  "abfss" (or (has "AZURE_STORAGE_ACCOUNT_KEY" $secrets) (has "AZURE_CLIENT_SECRET" $secrets) (eq (get .Values.podLabels "azure.workload.identity/use") "true")) -}}
{{- not (get $others (include "tidemark.storeScheme" .)) -}}
{{- end }}

{{/* s3, gs or abfss */}}
{{- define "tidemark.storeScheme" -}}
{{- splitList ":" .Values.warehouse | first -}}
{{- end }}
