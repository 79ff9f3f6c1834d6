import type { SystemCaller } from '../../../platform/identity/callers.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import { lockUploads } from '../../../platform/db/locks.js';
import { assertQuota, remainingQuota, takeQuota, type Quota } from '../../../platform/db/quotas.js';
import { pipeline, bulkTransaction, type Db, type PlainTx } from '../../../platform/db/transaction.js';
import { ApiError, describeProblem } from '../../../platform/errors/errors.js';
import type { OutboundMetrics } from '../../../platform/metrics/outbound.js';
import type { OutboundClient, OutboundReply } from '../../../platform/outbound/client.js';
import { addJobs, type Jobs } from '../../../platform/queue/jobs.js';
import { makeKeyedLimiter } from '../../../platform/concurrency/keyed-limiter.js';
import { MAX_PROBLEMS, type SyncResponse } from './sync-response.js';
import { customerChanges } from '../shared/change-quota.js';
import { applySync, countSyncChanges, type AppliedSync, type ReceivedList } from './queries.js';
import { makeResponseReader, type ResponseReader } from './sync-reader.js';
import type { SyncProblem } from './sync-records.js';
import { endRun, lockRunning, startRun, type RunEnd, type StartedRun } from './run-queries.js';

export type SyncDeps = {
  db: Db;
  config: { customerChangesPerDay: number };
  secrets: Secrets;
  outbound: OutboundClient;
  log: { info(fields: object, words: string): void };
  metrics?: Pick<OutboundMetrics, 'customerSync'> | undefined;
};

/** The limits of time and size for a courier's response. The contract states them at syncCustomers. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 20 * 1024 * 1024;
/** 100,000 rows take seconds, on a busy server up to a minute. No request waits for them. */
const STATEMENT_MS = 180_000;

/**
 * Reading a response takes CPU time and 100 MB, storing it takes a connection for seconds. Further responses
 * wait in memory.
 */
const LIMITS = { concurrency: 2, maxWaiting: 1_000, maxWaitMs: 600_000, retryAfterSeconds: 60 };

/**
 * Returns the job that reads a courier's customers from the courier's own system. Any failure of that system
 * ends the run as failed. The job throws only for internal errors; a repeated job starts over.
 */
export function makeCustomerSync(deps: SyncDeps): (job: Jobs['syncCustomers']) => Promise<void> {
  const limiter = makeKeyedLimiter(LIMITS);
  const readResponse = makeResponseReader(LIMITS.concurrency);
  const quota = customerChanges(deps.config.customerChangesPerDay);
  return async ({ tenantId, runId }) => {
    const { db, log } = deps;
    const caller: SystemCaller = { kind: 'system', tenantId };
    const [started] = await pipeline(db, caller, [startRun(db, caller, runId)]);
    // The statement returns exactly these columns.
    const run = started?.[0] as StartedRun | undefined;
    // The run was ended by another worker or as abandoned.
    if (!run) return;
    const startedMs = performance.now();
    const read = await fetchCustomers(deps, tenantId, run);
    if ('isPostponed' in read) return requeueJob(db, caller, runId);
    const end =
      'error' in read
        ? await fail(db, caller, runId, read)
        : await limiter.run(`${tenantId} ${run.courier_id}`, () =>
            readAndStore(db, caller, { runId, courierId: run.courier_id, quota, readResponse, ...read }),
          );
    const durationMs = Math.round(performance.now() - startedMs);
    const { httpStatus, error, counts } = end ?? { httpStatus: null, error: 'It was ended meanwhile.' };
    deps.metrics?.customerSync(error === null ? 'succeeded' : 'failed');
    log.info(
      {
        tenantId,
        courierId: run.courier_id,
        runId,
        durationMs,
        httpStatus,
        ...(error === null ? counts : { error }),
      },
      error === null ? 'customers synchronised' : 'customer synchronisation failed',
    );
  };
}

/** The run stays open. Its job is repeated when the address may be called again. */
async function requeueJob(db: Db, caller: SystemCaller, runId: string): Promise<void> {
  const job = { tenantId: caller.tenantId, runId };
  await pipeline(db, caller, [addJobs('syncCustomers', [job], { withinSeconds: 10 })]);
}

/** Returns undefined if the run was already ended. */
async function fail(
  db: Db,
  caller: SystemCaller,
  runId: string,
  failed: { httpStatus: number | null; error: string },
): Promise<RunEnd | undefined> {
  const [ended] = await pipeline(db, caller, [endRun(db, caller, runId, failed)]);
  return ended?.length === 1 ? failed : undefined;
}

type Body = { httpStatus: number; body: Buffer };
type FetchResult = Body | { isPostponed: true } | { httpStatus: number | null; error: string };

async function fetchCustomers(
  { secrets, outbound }: SyncDeps,
  tenantId: string,
  { courier_id: rowId, url, api_token_cipher: cipher }: StartedRun,
): Promise<FetchResult> {
  if (url === null) return { httpStatus: null, error: 'api_url_get_customers is no longer set.' };
  const token = cipher && secrets.decrypt(cipher, { tenantId, rowId, field: 'api_token' });
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Crossdock',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  };
  return toFetchResult(
    await outbound.send({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }),
  );
}

function toFetchResult(reply: OutboundReply): FetchResult {
  if (reply.outcome === 'postponed') return { isPostponed: true };
  if (reply.outcome !== 'answered') return { httpStatus: null, error: reply.error };
  const { status: httpStatus, body, isCut } = reply;
  if (httpStatus < 200 || httpStatus > 299)
    return { httpStatus, error: `The address answered with HTTP ${httpStatus}. ${adviceFor(httpStatus)}` };
  if (isCut)
    return {
      httpStatus,
      error: 'The answer was longer than 20 MiB, or did not end within 30 seconds. Send less.',
    };
  return { httpStatus, body };
}

function adviceFor(status: number): string {
  if (status >= 300 && status < 400) return 'Redirects are not followed: set the address that it leads to.';
  if (status === 401 || status === 403)
    return 'Check that your system accepts the api_token of the settings.';
  if (status === 404) return 'Check api_url_get_customers.';
  return 'Look into the log of your system.';
}

type Target = { runId: string; courierId: string; quota: Quota };
type Unread = Body & { readResponse: ResponseReader };

async function readAndStore(
  db: Db,
  caller: SystemCaller,
  { body, httpStatus, readResponse, ...target }: Target & Unread,
): Promise<RunEnd | undefined> {
  const answer = await readResponse(body);
  return 'fault' in answer
    ? fail(db, caller, target.runId, { httpStatus, error: answer.fault })
    : storeOrFail(db, caller, target, httpStatus, answer);
}

/** Stores nothing if the list would change more customers than the daily quota allows. */
async function storeOrFail(
  db: Db,
  caller: SystemCaller,
  target: Target,
  httpStatus: number,
  answer: Exclude<SyncResponse, { fault: string }>,
): Promise<RunEnd | undefined> {
  try {
    return await store(db, caller, target, httpStatus, answer);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'quota_exceeded')) throw error;
    const words = `It would change more customers than a courier may in a day: ${target.quota.limit}. Nothing was stored. Synchronise again after midnight UTC.`;
    return fail(db, caller, target.runId, { httpStatus, error: words });
  }
}

/**
 * Stores the customers and ends the run in one transaction. Returns undefined if the run was already ended.
 */
function store(
  db: Db,
  caller: SystemCaller,
  { runId, courierId, quota }: Target,
  httpStatus: number,
  answer: Exclude<SyncResponse, { fault: string }>,
): Promise<RunEnd | undefined> {
  return bulkTransaction(db, caller, STATEMENT_MS, async (tx) => {
    await tx.query(lockUploads(caller.tenantId, courierId));
    if ((await tx.query(lockRunning(db, caller, runId))).length === 0) return undefined;
    const { packed, sha256 } = answer;
    const list = { runId, courierId, packed, sha256, maxIncomplete: MAX_PROBLEMS };
    const quotaKey = { tenantId: caller.tenantId, courierId };
    if (answer.customers > (await remainingQuota(tx, quota, quotaKey)))
      await assertWithinQuota(db, tx, caller, { quota, list });
    const { created, updated, incomplete, incomplete_first } = await apply(db, tx, caller, list);
    const unchanged = answer.customers - created - updated - incomplete;
    const skipped = answer.skipped + incomplete;
    const problems = [...answer.problems, ...incomplete_first.map(toProblem)].sort(
      (a, b) => a.index - b.index,
    );
    const end = {
      httpStatus,
      error: null,
      counts: { received: answer.received, created, updated, unchanged, skipped },
      problems: problems.slice(0, MAX_PROBLEMS),
    };
    await takeQuota(tx, quota, quotaKey, created + updated);
    await tx.query(endRun(db, caller, runId, end));
    return end;
  });
}

/** Checked before any write, because rolled-back rows would still take space in the tables. */
async function assertWithinQuota(
  db: Db,
  tx: PlainTx,
  caller: SystemCaller,
  { quota, list }: { quota: Quota; list: ReceivedList },
): Promise<void> {
  const [counted] = await tx.query<{ changes: number }>(countSyncChanges(db, caller, list));
  const quotaKey = { tenantId: caller.tenantId, courierId: list.courierId };
  await assertQuota(tx, quota, quotaKey, counted?.changes);
}

async function apply(
  db: Db,
  tx: PlainTx,
  caller: SystemCaller,
  list: Parameters<typeof applySync>[2],
): Promise<AppliedSync> {
  const sum = { created: 0, updated: 0 };
  for (;;) {
    // Repeated for customers that were created or renamed concurrently. Rows that this transaction has
    // already written are unchanged now.
    const [applied] = await tx.query<AppliedSync>(applySync(db, caller, list));
    if (!applied) throw new Error('The synchronisation was not counted.');
    sum.created += applied.created;
    sum.updated += applied.updated;
    if (applied.missed === 0) return { ...applied, ...sum };
  }
}

const toProblem = ({ index, lacks }: AppliedSync['incomplete_first'][number]): SyncProblem => ({
  index,
  field: lacks,
  code: 'required',
  message: `Record ${index}: ${describeProblem(lacks, 'required_for_new').message}`,
});
