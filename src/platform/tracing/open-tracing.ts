import { hostname } from 'node:os';
import {
  ROOT_CONTEXT,
  SpanKind as Kinds,
  SpanStatusCode,
  trace,
  type Context,
  type Span as SdkSpan,
  type SpanContext,
  type Tracer as SdkTracer,
} from '@opentelemetry/api';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TracingConfig } from '../../config/config.js';
import { packageVersion } from '../../config/project-root.js';
import { makeSampler } from './sampler.js';
import type { Parent, Span, SpanKind, SpanOptions, Tracing, TracingLog } from './span.js';

// The only file besides sampler.ts that loads OpenTelemetry. start-tracing.ts imports it only if tracing is on.

/** A batch of thirty statements has this many characters. */
const MAX_ATTRIBUTE_CHARACTERS = 20_000;

/** Spans wait in memory, at most 2,048 of them: about 2 MB. Further ones are dropped. */
const QUEUE = { maxQueueSize: 2_048, maxExportBatchSize: 512 };

const WARN_EVERY_MS = 60_000;

/** Opens a tracer that sends its spans to the collector of the settings. It never waits for the collector. */
export function openTracing(config: TracingConfig, log: TracingLog): Tracing {
  warnOfFailures(log);
  const exporter = new OTLPTraceExporter({ url: config.tracesUrl, headers: config.headers });
  const provider = new TracerProvider({
    resource: describeProcess(config),
    sampler: makeSampler(config),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARACTERS },
    spanProcessors: [
      new BatchSpanProcessor({ exporter, ...QUEUE, scheduledDelayMillis: config.exportDelayMs }),
    ],
  });
  const tracer = provider.getTracer('crossdock', packageVersion());
  return {
    tracer: {
      startRequest: (name, options, header) => start(tracer, name, options, contextOf(header, true)),
      startWork: (name, options, parent) => startWork(tracer, name, options, parent),
    },
    stop: () => provider.shutdown().catch(() => undefined),
  };
}

/** OTEL_RESOURCE_ATTRIBUTES adds attributes; its names win. */
const describeProcess = ({ serviceName, deployment }: TracingConfig): Resource =>
  resourceFromAttributes({
    'service.name': serviceName,
    'service.version': packageVersion(),
    'service.instance.id': `${hostname()}:${process.pid}`,
    'deployment.environment.name': deployment,
  }).merge(detectResources({ detectors: [envDetector] }));

/** A collector that is away would otherwise cause a line per batch. */
function warnOfFailures(log: TracingLog): void {
  let quietUntilMs = 0;
  setGlobalErrorHandler((error) => {
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + WARN_EVERY_MS;
    const reason = error instanceof Error ? error.message : 'unknown';
    log.warn({ event: 'traces.dropped', reason }, 'The collector does not accept traces. They are dropped.');
  });
}

const KINDS: Record<SpanKind, Kinds> = {
  server: Kinds.SERVER,
  client: Kinds.CLIENT,
  consumer: Kinds.CONSUMER,
};

/** A parent of our own is always sampled; only the header of a caller is remote. */
function contextOf(traceparent: string | undefined, isRemote: boolean): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote }) : ROOT_CONTEXT;
}

function startWork(tracer: SdkTracer, name: string, options: SpanOptions, parent?: Parent): Span | undefined {
  const linked = parent?.link && parseTraceParent(parent.link.traceparent);
  return start(tracer, name, options, contextOf(parent?.traceparent, false), linked ?? undefined);
}

function start(
  tracer: SdkTracer,
  name: string,
  { kind, attributes = {} }: SpanOptions,
  context: Context,
  linked?: SpanContext,
): Span | undefined {
  const links = linked ? [{ context: linked }] : [];
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, links }, context);
  return span.isRecording() ? wrap(tracer, span) : undefined;
}

function wrap(tracer: SdkTracer, span: SdkSpan): Span {
  const spanContext = span.spanContext();
  const { traceId, spanId } = spanContext;
  const context = trace.setSpanContext(ROOT_CONTEXT, spanContext);
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-01`,
    startChild: (name, { kind, attributes = {} }) =>
      wrap(tracer, tracer.startSpan(name, { kind: KINDS[kind], attributes }, context)),
    end(attributes = {}, errorType) {
      span.setAttributes(attributes);
      if (errorType !== undefined) {
        span.setAttribute('error.type', errorType);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}
