import { createHash } from 'node:crypto';
import { newIds } from '../../../platform/values/ids.js';
import { describeProblem } from '../../../platform/errors/errors.js';
import { warnOfLikeNumber } from '../../tracking-numbers/public.js';
import type { ReceivedList } from './queries.js';
import { SyncResponseError, readList, type UnreadableReason, type Wrapper } from './sync-list.js';
import { packRows } from '../shared/packing.js';
import { findMore } from './stated-pages.js';
import { readRecord, type SyncedCustomer, type SyncProblem } from './sync-records.js';

export const MAX_PROBLEMS = 100;

/** The content of a courier system's response. */
export type ReadableResponse = Pick<ReceivedList, 'packed' | 'sha256'> & {
  received: number;
  skipped: number;
  problems: SyncProblem[];
  /** The number of packed customers. */
  customers: number;
  /** Whether the list is in an object. */
  isWrapped: boolean;
  /** What the object says of further pages, or null. */
  statesMore: string | null;
  /** The first user code, or null. */
  firstCode: string | null;
};

/** `error` says why the whole response is rejected. */
export type SyncResponse = ReadableResponse | { error: string; reason: UnreadableReason };

/** Reads a response of any size and content. The time is not limited here: see sync-reader.ts. */
export function readSyncResponse(bytes: Uint8Array): SyncResponse {
  const customers = new Map<string, SyncedCustomer>();
  const problems: SyncProblem[] = [];
  let received = 0;
  let wrapper: Wrapper | null;
  const recordProblem = (problem: SyncProblem) => {
    if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  try {
    wrapper = readList(decode(bytes), (record, index) => {
      received += 1;
      const customer = readRecord(record, index, recordProblem);
      if (!customer) return;
      const earlier = customers.get(customer.userCode);
      if (earlier) recordProblem(repeated(earlier.index));
      const isListed = problems.length < MAX_PROBLEMS;
      const warning = isListed ? warnOfLikeNumber(customer.userCode) : undefined;
      if (warning) recordProblem({ index, field: 'user_code', ...warning });
      customers.set(customer.userCode, customer);
    });
  } catch (error) {
    if (error instanceof SyncResponseError) return { error: error.message, reason: error.reason };
    throw error;
  }
  return {
    received,
    skipped: received - customers.size,
    problems,
    customers: customers.size,
    isWrapped: wrapper !== null,
    statesMore: (wrapper && findMore(wrapper, received)) ?? null,
    firstCode: customers.keys().next().value ?? null,
    packed: pack([...customers.values()]),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

function pack(customers: SyncedCustomer[]): string {
  const ids = newIds(customers.length);
  return packRows(
    customers.map(({ index, userCode, firstName, lastName, branch, email, isActive }, n) => [
      ...[ids[n], index, userCode, firstName, lastName, branch, email],
      isActive === undefined ? undefined : Number(isActive),
    ]),
  );
}

const repeated = (index: number): SyncProblem => ({
  index,
  field: 'user_code',
  code: 'repeated',
  message: `Record ${index}: ${describeProblem('user_code', 'repeated_below').message}`,
});

function decode(bytes: Uint8Array): string {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    throw new SyncResponseError(
      'compressed',
      'The response is compressed. Send it uncompressed, as Accept-Encoding of the request says.',
    );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SyncResponseError('not_utf8', 'The response is not in UTF-8. Encode it in UTF-8.');
  }
}
