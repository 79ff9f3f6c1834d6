import type { Settings } from './settings.js';

export type TracingConfig = {
  /** Where the collector accepts traces: OTLP over HTTP, as JSON. */
  tracesUrl: string;
  /** Sent to the collector, for example to authenticate. */
  headers: Record<string, string>;
  serviceName: string;
  deployment: string;
  sampler: Settings['OTEL_TRACES_SAMPLER'];
  /** The share of new traces that the ratio samplers record. */
  samplerRatio: number;
  /** The number of traces per second and process that callers may have recorded, beyond the sampler's share. */
  callersPerSecond: number;
  exportDelayMs: number;
};

/** Returns undefined without an endpoint: tracing is off. */
export function toTracing(settings: Settings): TracingConfig | undefined {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  return {
    tracesUrl: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: parseHeaders(settings.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: settings.OTEL_SERVICE_NAME,
    deployment: settings.DEPLOYMENT ?? settings.APP_ENV,
    sampler: settings.OTEL_TRACES_SAMPLER,
    samplerRatio: Number(settings.OTEL_TRACES_SAMPLER_ARG),
    callersPerSecond: settings.TRACE_CALLERS_PER_SECOND,
    exportDelayMs: settings.OTEL_BSP_SCHEDULE_DELAY,
  };
}

/** `name=value,name=value`, with percent-encoded values, as OpenTelemetry defines it. */
const parseHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .filter((pair) => pair.trim() !== '')
      .map((pair) => {
        const equals = pair.indexOf('=');
        return [pair.slice(0, equals).trim(), decodeURIComponent(pair.slice(equals + 1).trim())];
      }),
  );
