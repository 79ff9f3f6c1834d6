import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Line, Lines } from '../../../platform/contract/types.js';
import {
  ApiError,
  atRow,
  fieldError,
  withExisting,
  type FieldError,
} from '../../../platform/errors/errors.js';
import type { SubmittingCaller } from '../../../platform/identity/callers.js';
import { newIds } from '../../../platform/values/ids.js';
import { duplicateOf, ownerOfKey } from '../duplicates/existing.js';
import { unknownUserCode } from '../../packages/public.js';
import { toPrealert, type PrealertSubmission } from '../prealert.js';
import { warningsOf, type PrealertWarning } from '../warnings.js';
import { comparePrealerts, type NumberedPrealert, type Stored } from '../batches/batch-queries.js';
import {
  prepareBatch,
  readExisting,
  storeBatch,
  type Batch,
  type ExistingByNumber,
} from '../batches/store-batch.js';

/** A line with the id of its pre-alert, or with the error that a single call would get. */
export type LineResult =
  | { number: number; status: 'created'; prealertId: string; warnings?: PrealertWarning[] }
  | { number: number; status: 'duplicate' | 'unknown_customer' | 'invalid'; error: ApiError };

const TIMEOUT_MS = 30_000;

/**
 * Creates the pre-alerts of the lines with a courier's API key, in one transaction. A line that fails does not affect the
 * others, unless the batch is atomic. Returns the results in the order of the lines.
 *
 * @throws ApiError key_invalid; overloaded; for an atomic batch validation_failed or duplicate_tracking_number with the failed lines
 */
export async function submitBatch(
  ctx: RequestContext<SubmittingCaller>,
  { lines, limit }: Lines<PrealertSubmission>,
  isAtomic: boolean,
): Promise<LineResult[]> {
  const { prealerts, invalid } = await limit(() => readPrealerts(lines));
  if (prealerts.length === 0) {
    if (isAtomic) assertAllCreated(invalid);
    return invalid;
  }
  const batch = await prepareBatch(ownerOfKey(ctx), prealerts);
  // Refused before any write, because rolled-back rows would still take space in the tables.
  if (isAtomic) assertAllCreated(merge(await compare(ctx, prealerts, batch), invalid));
  return ctx.write(
    async (tx) => {
      const stored = await storeBatch(tx, batch, null);
      const existing = await readExisting(tx, batch.owner, prealerts, duplicatesOf(stored));
      const results = toResults(prealerts, stored, existing);
      // A concurrent request may have announced a number since the comparison.
      if (isAtomic) assertAllCreated(results);
      return merge(results, invalid);
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

type Read = { prealerts: NumberedPrealert[]; invalid: LineResult[] };

async function readPrealerts(lines: Line<PrealertSubmission>[]): Promise<Read> {
  const ids = newIds(lines.length);
  const read: Read = { prealerts: [], invalid: [] };
  for (const [index, line] of lines.entries()) {
    await pauseWhenDue();
    readLine(read, line, ids[index] ?? '');
  }
  return read;
}

function readLine({ prealerts, invalid }: Read, line: Line<PrealertSubmission>, id: string): void {
  const { number } = line;
  if ('error' in line) {
    invalid.push({ number, status: 'invalid', error: line.error });
    return;
  }
  try {
    prealerts.push({ number, ...toPrealert(id, line.value) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    invalid.push({ number, status: 'invalid', error });
  }
}

async function compare(
  ctx: RequestContext<SubmittingCaller>,
  prealerts: NumberedPrealert[],
  { owner, packed }: Batch,
): Promise<LineResult[]> {
  return ctx.read(
    async (tx) => {
      const rows = await tx.query(comparePrealerts(owner, packed));
      const stored = rows.map(({ number, isDuplicate, isRepeated }) => ({
        number,
        id: isDuplicate || isRepeated ? null : '',
      }));
      return toResults(prealerts, stored, await readExisting(tx, owner, prealerts, duplicatesOf(stored)));
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

const duplicatesOf = (stored: Stored[]): number[] =>
  stored.flatMap(({ number, id }) => (id === null ? number : []));

/** @param stored the pre-alerts of known customers */
function toResults(
  prealerts: NumberedPrealert[],
  stored: Stored[],
  existingByNumber: ExistingByNumber,
): LineResult[] {
  const ids = new Map(stored.map(({ number, id }) => [number, id]));
  return prealerts.map((prealert) => {
    const { number } = prealert;
    const id = ids.get(number);
    // The same error for an unknown user code and one of another courier.
    if (id === undefined) return { number, status: 'unknown_customer', error: unknownUserCode('UserCode') };
    if (id === null)
      return { number, status: 'duplicate', error: duplicateOf(existingByNumber.get(number), prealert) };
    return { number, status: 'created', prealertId: id, ...warningsOf(prealert) };
  });
}

const merge = (results: LineResult[], invalid: LineResult[]): LineResult[] =>
  [...results, ...invalid].sort((a, b) => a.number - b.number);

const MAX_ERRORS = 1_000;

/** @throws ApiError with the lines that were not created */
function assertAllCreated(results: LineResult[]): void {
  const failed = results.filter((result) => result.status !== 'created');
  if (failed.length === 0) return;
  const errors = failed.flatMap(({ number, error }) => atRow(number, errorsOf(error))).slice(0, MAX_ERRORS);
  const detail = { variant: 'lines' as const, args: { count: failed.length }, errors };
  if (failed.every(({ status }) => status === 'duplicate'))
    throw new ApiError('duplicate_tracking_number', detail);
  throw new ApiError('validation_failed', detail);
}

const duplicateNumber = (existing: ApiError['detail']['existing']): FieldError =>
  existing?.differs
    ? fieldError('TrackingNumber', 'announced_differs', { user_code: existing.user_code })
    : fieldError('TrackingNumber', 'announced');

function errorsOf({ code, detail }: ApiError): FieldError[] {
  if (detail.errors) return detail.errors;
  switch (code) {
    case 'duplicate_tracking_number':
      return [withExisting(duplicateNumber(detail.existing), detail.existing)];
    case 'invalid_encoding':
      return [fieldError('body', 'encoding')];
    case 'body_too_large':
      return [fieldError('body', 'line_too_long')];
    default:
      return [fieldError('body', 'json_line')];
  }
}
