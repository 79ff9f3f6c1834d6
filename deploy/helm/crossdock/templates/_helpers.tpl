{{- define "crossdock.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "crossdock.labels" -}}
app.kubernetes.io/name: crossdock
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Which pods: (dict "root" $ "component" "api") */}}
{{- define "crossdock.selector" -}}
app.kubernetes.io/name: crossdock
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "crossdock.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* No default is safe, so a chart without the values of an environment does not render. */}}
{{- define "crossdock.appEnv" -}}
{{- $appEnv := .Values.settings.APP_ENV | default "" -}}
{{- if not (has $appEnv (list "staging" "production")) -}}
{{- fail (printf "settings.APP_ENV must be staging or production, not %q: add -f values.production.yaml or -f values.staging.yaml" $appEnv) -}}
{{- end -}}
{{- $appEnv -}}
{{- end -}}

{{/* The account of the image, which owns nothing. */}}
{{- define "crossdock.podSecurity" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The name of the worker's service account. Empty: the namespace's default. */}}
{{- define "crossdock.serviceAccount" -}}
{{- $account := .Values.serviceAccount -}}
{{- if $account.name -}}
{{ $account.name }}
{{- else if $account.create -}}
{{ include "crossdock.name" . }}-worker
{{- end -}}
{{- end -}}

{{/* On which machines the pods run. A component's own value replaces that of all: (dict "root" $ "own" .Values.api) */}}
{{- define "crossdock.scheduling" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.own $key | default (get $.root.Values $key) }}
{{ $key }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Those of all pods, and a component's own: (dict "root" $ "own" .Values.api) */}}
{{- define "crossdock.podAnnotations" -}}
{{- with merge (dict) (get .own "podAnnotations" | default dict) .root.Values.podAnnotations -}}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "crossdock.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* Settings of the processes. Those of the values come with the ConfigMap. */}}
{{- define "crossdock.environment" -}}
- { name: SECRETS_DIR, value: /run/secrets/crossdock }
- { name: TRUST_PROXY, value: {{ .Values.trustProxy | quote }} }
- { name: METRICS_HOST, value: 0.0.0.0 }
- { name: METRICS_PORT, value: '9464' }
{{- with .Values.databasePooler }}
- { name: DATABASE_POOLER, value: {{ . | quote }} }
{{- end }}
{{- end -}}

{{- define "crossdock.mounts" -}}
- { name: secrets, mountPath: /run/secrets/crossdock, readOnly: true }
- { name: temporary, mountPath: /tmp }
{{- end -}}

{{/* A pod starts without the optional ones: (dict "root" $ "keys" (list "TOKEN_KEYS" ...) "optional" (list ...)) */}}
{{- define "crossdock.volumes" -}}
{{- $name := .root.Values.secrets.service -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ $name }}
          items:
            {{- range .keys }}
            - { key: {{ . }}, path: {{ . }} }
            {{- end }}
      {{- range .optional }}
      - secret: { name: {{ $name }}, optional: true, items: [{ key: {{ . }}, path: {{ . }} }] }
      {{- end }}
- name: temporary
  emptyDir: { sizeLimit: {{ .root.Values.temporarySize }} }
{{- end -}}

{{/* Over machines and zones, as far as there are several. */}}
{{- define "crossdock.spread" -}}
{{- $selector := include "crossdock.selector" . -}}
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- $selector | nindent 6 }}
{{- end }}
{{- end -}}
