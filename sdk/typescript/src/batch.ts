import type { Call, CallOptions } from './call.js';
import type { Client, RequestOptions } from './generated/core/client/index.js';
import type { FieldError, PrealertSubmission } from './generated/core/types.gen.js';

/** The result of one pre-alert of a batch. */
export type BatchResult = {
  /** Counts the given pre-alerts from 1. */
  line: number;
  status: 'created' | 'duplicate' | 'unknown_customer' | 'invalid' | (string & {});
  message: string;
  /** Of the created pre-alert. */
  prealert_id?: string;
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

/** Submits pre-alerts in requests of up to 1,000, one after another. After an error, submit all again: those stored are duplicates. */
export async function submitBatch(
  call: Call,
  prealerts: Iterable<PrealertSubmission> | AsyncIterable<PrealertSubmission>,
  { atomic = false, ...options }: BatchOptions = {},
): Promise<Batch> {
  const results: BatchResult[] = [];
  const send = async (lines: string[]) => {
    const input = { body: `${lines.join('\n')}\n`, ...(atomic ? { query: { atomic: true } } : {}) };
    const before = results.length;
    // Each request has its own key.
    const key =
      options.idempotencyKey && before > 0 ? `${options.idempotencyKey}-${before}` : options.idempotencyKey;
    const own = { ...options, ...(key ? { idempotencyKey: key } : {}) };
    const { data } = await call.json<Reply>(postLines, input, own, { repeat: 'key' });
    results.push(...data.results.map((result) => ({ ...result, line: result.line + before })));
  };
  let lines: string[] = [];
  let bytes = 0;
  for await (const prealert of prealerts) {
    const line = JSON.stringify(prealert);
    const size = new TextEncoder().encode(line).length + 1;
    if (lines.length === LINES || bytes + size > BYTES) {
      if (atomic) throw new RangeError(`An atomic batch has at most ${LINES} pre-alerts and ${BYTES} bytes.`);
      await send(lines);
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += size;
  }
  if (lines.length > 0) await send(lines);
  return {
    total: results.length,
    created: results.filter(({ status }) => status === 'created').length,
    results,
  };
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
