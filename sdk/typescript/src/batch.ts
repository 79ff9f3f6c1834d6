import type { Call, CallOptions } from './call.js';
import { CrossdockError, IncompleteBatchError } from './errors.js';
import type { Client, RequestOptions } from './generated/core/client/index.js';
import type { ExistingPrealert, FieldError, PrealertSubmission } from './generated/core/types.gen.js';

/** The result of one pre-alert of a batch. */
export type BatchResult = {
  /** Counts the given pre-alerts from 1. */
  line: number;
  status: 'created' | 'duplicate' | 'unknown_customer' | 'invalid' | (string & {});
  message: string;
  /** Of the created pre-alert. */
  prealert_id?: string;
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
};

export type Batch = {
  total: number;
  created: number;
  results: BatchResult[];
};

type Reply = { data: { results: BatchResult[] } };

/** The service accepts so many lines and bytes at once. */
const LINES = 1000;
const BYTES = 4 * 1024 * 1024;

/**
 * Submits pre-alerts in requests of up to 1,000, one after another, and returns the results. An error has those before it in
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

/** The same, but yields the results as they arrive. */
export async function* submitEach(
  call: Call,
  prealerts: Prealerts,
  { atomic = false, ...options }: BatchOptions = {},
): AsyncGenerator<BatchResult> {
  let before = 0;
  for await (const lines of requestsOf(prealerts, atomic)) {
    const input = { body: `${lines.join('\n')}\n`, ...(atomic ? { query: { atomic: true } } : {}) };
    // Each request has its own key.
    const { idempotencyKey: given } = options;
    const key = given && before > 0 ? `${given}-${before}` : given;
    const own = { ...options, ...(key ? { idempotencyKey: key } : {}) };
    const { data } = await call.json<Reply>(postLines, input, own, { repeat: 'key' });
    for (const result of data.results) yield { ...result, line: result.line + before };
    const received = data.results.length;
    if (received !== lines.length) throw new IncompleteBatchError(lines.length, received);
    before += lines.length;
  }
}

/** Divides the pre-alerts into requests, as lines of JSON. */
async function* requestsOf(prealerts: Prealerts, atomic: boolean): AsyncGenerator<string[]> {
  let lines: string[] = [];
  let bytes = 0;
  for await (const prealert of prealerts) {
    const line = JSON.stringify(prealert);
    const size = new TextEncoder().encode(line).length + 1;
    if (lines.length === LINES || bytes + size > BYTES) {
      if (atomic) throw new RangeError(`An atomic batch has at most ${LINES} pre-alerts and ${BYTES} bytes.`);
      yield lines;
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += size;
  }
  if (lines.length > 0) yield lines;
}

/** The generated method sends one pre-alert as JSON. This is the same operation with lines of JSON. */
const postLines = ({ client, headers, ...options }: Omit<RequestOptions, 'url'> & { client: Client }) =>
  client.post({
    security: [{ name: 'X-API-KEY', type: 'apiKey' }],
    url: '/api/Prealert.php',
    bodySerializer: null,
    ...options,
    headers: { 'Content-Type': 'application/x-ndjson', ...(headers as Record<string, string>) },
  });
