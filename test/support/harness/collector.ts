import { startReceiver, type Receiver } from '../receivers/receiver.js';

type CollectedSpan = {
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  attributes: Record<string, unknown>;
  isError: boolean;
  links: string[];
};

/** A collector of OpenTelemetry: OTLP over HTTP, as JSON. */
export type Collector = {
  url: string;
  /** Everything that was sent, as text. */
  text(): string;
  spans(): CollectedSpan[];
  /** Returns the only span of this name, optionally of one trace. */
  only(name: string, traceId?: string): CollectedSpan;
  receiver: Receiver;
  stop(): Promise<void>;
};

// The parts of ExportTraceServiceRequest that the tests read.
type Value = { stringValue?: string; intValue?: number; boolValue?: boolean; doubleValue?: number };
type SentSpan = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: Value }[];
  status: { code?: number };
  links?: { traceId: string; spanId: string }[];
};
type Sent = { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };

export async function startCollector(): Promise<Collector> {
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  const bodies = () => receiver.at('/v1/traces').map(({ body }) => body);
  const spans = () =>
    bodies()
      .flatMap((body) => (JSON.parse(body) as Sent).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
      .map(toCollected);
  return {
    url: receiver.url,
    receiver,
    text: () => bodies().join('\n'),
    spans,
    only(name, traceId) {
      const found = spans().filter(
        (span) => span.name === name && (traceId ?? span.traceId) === span.traceId,
      );
      const [first] = found;
      if (!first || found.length > 1)
        throw new Error(
          `There are ${found.length} spans ${name}, of: ${spans()
            .map((span) => span.name)
            .join()}`,
        );
      return first;
    },
    stop: () => receiver.stop(),
  };
}

const toCollected = ({
  attributes,
  status,
  links = [],
  parentSpanId = '',
  ...span
}: SentSpan): CollectedSpan => ({
  ...span,
  parentSpanId,
  attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  isError: status.code === 2,
  links: links.map((link) => link.spanId),
});
