{{- define "scarce.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "scarce.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "scarce.labels" -}}
{{ include "scarce.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "scarce.secret" -}}
{{ .Values.password.existingSecret | default (include "scarce.name" .) }}
{{- end }}

{{/* A server that others reach does not start without a password: say so before it is tried. */}}
{{- define "scarce.checked" -}}
{{- if not (or .Values.password.existingSecret .Values.password.value) }}
{{- fail "set password.existingSecret or password.value: a server that others reach asks its callers for a password" }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (ne (.Values.settings.engine | default "embedded") "redis") }}
{{- fail "replicas must be 1 with the embedded engine, whose data is in one place; several servers need settings.engine=redis" }}
{{- end }}
{{- end }}

{{/* Settings as TOML: texts in quotes, numbers and booleans as they are. YAML's large numbers come as floats. */}}
{{- define "scarce.toml" -}}
{{- range $key, $value := .Values.settings }}
{{ $key }} = {{ if kindIs "string" $value }}{{ $value | quote }}{{ else if kindIs "float64" $value }}{{ $value | int64 }}{{ else }}{{ $value }}{{ end }}
{{- end }}
{{- end }}
