import type { Settings } from './settings.js';

export type TracingConfig = NonNullable<ReturnType<typeof toTracing>>;

/** Returns undefined without an endpoint: tracing is off. */
export function toTracing(settings: Settings) {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  return {
    /** Where the collector accepts traces: OTLP over HTTP, as JSON. */
    tracesUrl: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    /** Sent to the collector, for example to authenticate. */
    headers: Object.fromEntries(readHeaders(settings.OTEL_EXPORTER_OTLP_HEADERS ?? '')),
    serviceName: settings.OTEL_SERVICE_NAME,
    deployment: settings.DEPLOYMENT ?? settings.APP_ENV,
    sampler: settings.OTEL_TRACES_SAMPLER,
    /** The share of new traces that the ratio samplers record. */
    samplerRatio: Number(settings.OTEL_TRACES_SAMPLER_ARG),
    /** The number of traces per second and process that callers may have recorded, beyond the sampler's share. */
    callersPerSecond: settings.TRACE_CALLERS_PER_SECOND,
    exportDelayMs: settings.OTEL_BSP_SCHEDULE_DELAY,
  };
}

type Header = [name: string, value: string];

/**
 * Reads the headers of the collector: `name=value,name=value`, with percent-encoded values, as OpenTelemetry defines it.
 *
 * @throws URIError if a value is not percent-encoded correctly
 */
export const readHeaders = (text: string, decode: (value: string) => string = decodeURIComponent): Header[] =>
  text
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return [pair.slice(0, Math.max(equals, 0)).trim(), decode(pair.slice(equals + 1).trim())];
    });
