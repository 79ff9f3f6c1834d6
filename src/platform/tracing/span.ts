export type Attributes = Record<string, string | number | boolean | undefined>;

export type SpanKind = 'server' | 'client' | 'consumer';

export type SpanOptions = { kind: SpanKind; attributes?: Attributes };

/** An operation of a sampled trace. Without tracing, and in traces that are not sampled, there is no span at all. */
export type Span = {
  readonly traceId: string;
  /** The header of the W3C Trace Context that names this span as the parent. */
  readonly traceparent: string;
  startChild(name: string, options: SpanOptions): Span;
  /** @param errorType a class of errors, never a message: messages contain values */
  end(attributes?: Attributes, errorType?: string): void;
};

export type Tracer = {
  /**
   * Begins the span of a request. It continues the caller's trace if the header is well-formed. The caller's wish to sample
   * is granted a few times per second.
   */
  startRequest(name: string, options: SpanOptions, header: string | undefined): Span | undefined;
  /** Begins the span of background work, and of a trace unless the work has a parent. */
  startWork(name: string, options: SpanOptions, parent?: Parent): Span | undefined;
};

/** The parent of background work: its stored traceparent. `link` is a span of another trace that runs the work. */
export type Parent = { traceparent: string; link?: Span | undefined };

/** The context of a request or job. If it is traced, what it queues stores the traceparent and continues the trace. */
export type Traced = { readonly traceparent?: string | undefined };

/** A running tracer. `stop` sends what is recorded; the caller limits its time. */
export type Tracing = { tracer: Tracer; stop(): Promise<void> };

export type TracingLog = { warn(fields: object, message: string): void };

/** Returns the class of an error for a span: PostgreSQL's code, a failure code or the name of the class. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Ends the span when the work has ended. Without a span it only runs the work. */
export async function inSpan<Result>(span: Span | undefined, work: () => Promise<Result>): Promise<Result> {
  if (!span) return work();
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end({}, errorTypeOf(error));
    throw error;
  }
}
