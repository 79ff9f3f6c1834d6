import type { SystemContext } from '../../../platform/context/request-context.js';
import { lockUploads } from '../../../platform/db/locks.js';
import {
  assertQuota,
  remainingQuota,
  takeQuota,
  type Quota,
} from '../../../platform/limits/stored/quotas.js';
import { countOf } from '../../../platform/values/count-of.js';
import { describeProblem } from '../../../platform/errors/errors.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import { assertCodesFree } from '../../prealerts/public.js';
import { describeLikeCode, type LikeCode } from '../shared/leading-zeros.js';
import {
  applySync,
  countSyncChanges,
  likeSentCodes,
  sentAmong,
  type AppliedSync,
  type ReceivedList,
} from './queries.js';
import { endRun, lockRunning, type RunEnd } from './run-queries.js';
import type { SyncProblem } from './sync-records.js';
import { MAX_PROBLEMS, type ReadableResponse } from './sync-response.js';

/** 100,000 rows take seconds, on a busy server up to a minute. No request waits for them. */
const STATEMENT_MS = 180_000;

export type SyncTarget = {
  runId: string;
  courierId: string;
  /** The daily quota of changed customers per courier. */
  quota: Quota;
};

/**
 * Stores the customers and ends the run in one transaction. Returns undefined if the run was already ended.
 *
 * @throws ApiError quota_exceeded, rename_unfinished
 */
export function storeCustomers(
  ctx: SystemContext,
  { runId, courierId, quota }: SyncTarget,
  httpStatus: number,
  response: ReadableResponse,
): Promise<RunEnd | undefined> {
  const { packed, sha256, customers } = response;
  const list = { courierId, packed, sha256 };
  return ctx.write(
    async (tx) => {
      await tx.query(lockUploads(ctx.tenantId, courierId));
      const running = await tx.query(lockRunning(ctx, runId));
      if (running.length === 0) return undefined;
      const haveOne = async (codes: string[]) => (await tx.query(sentAmong(list, codes))).length > 0;
      // Before any write too, like the quota.
      await assertCodesFree(tx, courierId, haveOne);
      await assertWithinQuota(tx, quota, list, customers);
      // Before the customers are written, because only new ones are looked up.
      const likeCodes = await tx.query(likeSentCodes(tx, list));
      const applied = await apply(tx, list);
      await assertCodesFree(tx, courierId, haveOne);
      const end = endOf(httpStatus, response, applied, likeCodes);
      const changes = applied.created + applied.updated;
      await takeQuota(tx, quota, courierId, changes);
      await tx.query(endRun(ctx, runId, end));
      return end;
    },
    { timeoutMs: STATEMENT_MS },
  );
}

/** Checked before any write, because rolled-back rows would still take space in the tables. */
async function assertWithinQuota(
  tx: SystemTx,
  quota: Quota,
  list: ReceivedList,
  maxChanges: number,
): Promise<void> {
  if (maxChanges <= (await remainingQuota(tx, quota, list.courierId))) return;
  const [counted] = await tx.query(countSyncChanges(tx, list));
  await assertQuota(tx, quota, list.courierId, counted?.changes);
}

async function apply(tx: SystemTx, list: ReceivedList): Promise<AppliedSync> {
  const sum = { created: 0, updated: 0 };
  for (;;) {
    // Repeated for customers that were created or renamed concurrently. Rows that this transaction has
    // already written are unchanged now.
    const [applied] = await tx.query(applySync(tx, list, MAX_PROBLEMS));
    if (!applied) throw new Error('The synchronisation was not counted.');
    sum.created += applied.created;
    sum.updated += applied.updated;
    if (applied.missed === 0) return { ...applied, ...sum };
  }
}

function endOf(
  httpStatus: number,
  response: ReadableResponse,
  applied: AppliedSync,
  likeCodes: LikeCode[],
): RunEnd {
  const { created, updated, incomplete, first_incomplete: firstIncomplete } = applied;
  const unchanged = response.customers - created - updated - incomplete;
  const skipped = response.skipped + incomplete;
  const problems = [
    ...response.problems,
    ...firstIncomplete.map(toProblem),
    ...likeCodes.map(toLikeProblem),
  ].sort((a, b) => a.index - b.index);
  return {
    httpStatus,
    error: skipped > 0 && skipped === response.received ? allSkipped(skipped) : null,
    counts: { received: response.received, created, updated, unchanged, skipped },
    problems: problems.slice(0, MAX_PROBLEMS),
  };
}

const allSkipped = (records: number): string =>
  `None of the ${countOf(records, 'record')} could be stored. Correct what problems lists, then synchronise again.`;

const toProblem = ({ index, lacks }: AppliedSync['first_incomplete'][number]): SyncProblem => ({
  index,
  field: lacks,
  code: 'required',
  message: `Record ${index}: ${describeProblem(lacks, 'required_for_new').message}`,
});

const toLikeProblem = (found: LikeCode): SyncProblem => ({
  index: found.position,
  field: 'user_code',
  code: 'leading_zeros',
  message: `Record ${found.position}: ${describeLikeCode(found)}`,
});
