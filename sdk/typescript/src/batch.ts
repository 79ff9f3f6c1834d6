import type { Call, CallOptions } from './call.js';
import { CrossdockError, IncompleteBatchError, TooSlowError } from './errors.js';
import type { Client, RequestOptions } from './generated/core/client/index.js';
import type {
  ExistingPrealert,
  FieldError,
  PrealertSubmission,
  PrealertWarning,
} from './generated/core/types.gen.js';
import * as table from './generated/retries.js';

/** The result of one pre-alert of a batch. */
export type BatchResult = {
  /** Counts the given pre-alerts from 1. */
  line: number;
  status: 'created' | 'duplicate' | 'unknown_customer' | 'invalid' | (string & {});
  message: string;
  /** Of the created pre-alert. */
  prealert_id?: string;
  /** Of a created pre-alert: what was stored although it may be wrong, as of a single call. Show the messages to a person. */
  warnings?: PrealertWarning[];
  /** Of a duplicate: the stored pre-alert. If `differs` is true, it belongs to another customer, and yours was not stored. */
  existing?: ExistingPrealert;
  /** Of a pre-alert that was not created: the code of a single call. */
  code?: string;
  errors?: FieldError[];
};

export type BatchOptions = CallOptions & {
  /**
   * Stores all pre-alerts or none. If one cannot be stored, the call throws an ApiError whose `errors` name the lines as
   * `row`. Possible for up to 1,000.
   */
  atomic?: boolean;
  /**
   * Pre-alerts per request, 1 to 1,000. Default 250. A request must arrive within 10 seconds, so a slow line needs fewer. After
   * 408 the batch is halved, and the following ones too. An atomic batch is one request.
   */
  linesPerRequest?: number;
};

export type Batch = {
  total: number;
  created: number;
  results: BatchResult[];
};

type Reply = { data: { results: BatchResult[] } };

/** The service accepts so many lines and bytes at once. */
const MAX_LINES = 1000;
const BYTES = 4 * 1024 * 1024;

/**
 * Submits pre-alerts in several requests, one after another, and returns the results. An error has those before it in
 * `results`. A request that was cut on the way is an IncompleteBatchError.
 */
export async function submitBatch(
  call: Call,
  prealerts: Prealerts,
  options: BatchOptions = {},
): Promise<Batch> {
  const results: BatchResult[] = [];
  try {
    for await (const result of submitEach(call, prealerts, options)) results.push(result);
  } catch (error) {
    if (error instanceof CrossdockError) error.results = results;
    throw error;
  }
  return {
    total: results.length,
    created: results.filter(({ status }) => status === 'created').length,
    results,
  };
}

export type Prealerts = Iterable<PrealertSubmission> | AsyncIterable<PrealertSubmission>;

/** How many lines the next request has. It shrinks after 408. */
type Size = { lines: number; isReduced: boolean };

/** The same, but yields the results as they arrive. */
export async function* submitEach(
  call: Call,
  prealerts: Prealerts,
  { atomic = false, linesPerRequest = table.BATCH_LINES, ...options }: BatchOptions = {},
): AsyncGenerator<BatchResult> {
  if (!(Number.isInteger(linesPerRequest) && linesPerRequest >= 1 && linesPerRequest <= MAX_LINES))
    throw new RangeError(`linesPerRequest must be 1 to ${MAX_LINES}.`);
  const size: Size = { lines: atomic ? MAX_LINES : linesPerRequest, isReduced: false };
  let before = 0;
  for await (const lines of requestsOf(prealerts, atomic, size)) {
    for (let rest = lines; rest.length > 0;) {
      const part = rest.slice(0, size.lines);
      const results = await submitPart(call, part, { atomic, options, before, size });
      if (!results) continue;
      for (const result of results) yield { ...result, line: result.line + before };
      const received = results.length;
      if (received !== part.length) throw new IncompleteBatchError(part.length, received);
      before += part.length;
      rest = rest.slice(part.length);
    }
  }
}

type Part = { atomic: boolean; options: CallOptions; before: number; size: Size };

/** Returns the results, or undefined if the request did not arrive in time and the next one is half as large. */
async function submitPart(
  call: Call,
  lines: string[],
  { atomic, options, before, size }: Part,
): Promise<BatchResult[] | undefined> {
  const input = { body: `${lines.join('\n')}\n`, ...(atomic ? { query: { atomic: true } } : {}) };
  const key = options.idempotencyKey && keyOf(options.idempotencyKey, lines.length, before, size);
  const own = { ...options, ...(key ? { idempotencyKey: key } : {}) };
  const isDivisible = !atomic && lines.length > 1;
  try {
    return (
      await call.json<Reply>(postLines, input, own, { id: 'submitPrealert', repeat: 'key', isDivisible })
    ).data.results;
  } catch (error) {
    if (!(error instanceof TooSlowError)) throw error;
    [size.lines, size.isReduced] = [Math.ceil(lines.length / 2), true];
    return undefined;
  }
}

/** Each request has its own key. A part of another size is another request, also for a program that sends the batch again. */
function keyOf(given: string, count: number, before: number, { isReduced }: Size): string {
  if (isReduced) return `${given}-${before}-${count}`;
  return before > 0 ? `${given}-${before}` : given;
}

/** Divides the pre-alerts into requests, as lines of JSON. */
async function* requestsOf(prealerts: Prealerts, atomic: boolean, size: Size): AsyncGenerator<string[]> {
  let lines: string[] = [];
  let bytes = 0;
  for await (const prealert of prealerts) {
    const line = JSON.stringify(prealert);
    const length = new TextEncoder().encode(line).length + 1;
    if (lines.length >= size.lines || bytes + length > BYTES) {
      if (atomic)
        throw new RangeError(`An atomic batch has at most ${MAX_LINES} pre-alerts and ${BYTES} bytes.`);
      yield lines;
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += length;
  }
  if (lines.length > 0) yield lines;
}

/** The generated method sends one pre-alert as JSON. This is the same operation with lines of JSON. */
const postLines = ({ client, headers, ...options }: Omit<RequestOptions, 'url'> & { client: Client }) =>
  client.post({
    security: [
      { name: 'X-API-KEY', type: 'apiKey' },
      { scheme: 'bearer', type: 'http' },
    ],
    url: '/api/Prealert.php',
    bodySerializer: null,
    ...options,
    headers: { 'Content-Type': 'application/x-ndjson', ...(headers as Record<string, string>) },
  });
