import type { SystemCaller } from '../../../platform/identity/callers.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import { lockUploads } from '../../../platform/db/locks.js';
import { assertQuota, remainingQuota, takeQuota, type Quota } from '../../../platform/db/quotas.js';
import { pipeline, bulkTransaction, type Db, type PlainTx } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { OutboundMetrics } from '../../../platform/metrics/outbound.js';
import type { OutboundClient, OutboundReply } from '../../../platform/outbound/client.js';
import { addJobs, type Jobs } from '../../../platform/queue/jobs.js';
import { makeKeyedLimiter } from '../../../platform/concurrency/keyed-limiter.js';
import { MAX_PROBLEMS, type Answer } from './sync-answer.js';
import { customerChanges } from '../shared/change-quota.js';
import { applySync, countSyncChanges, type AppliedSync, type SentList } from './queries.js';
import { makeAnswerReader, type AnswerReader } from './sync-reader.js';
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

/** What the target is given, and what we take of it. Stated in the contract, at syncCustomers. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 20 * 1024 * 1024;
/** 100,000 rows take seconds, on a busy server a minute; nobody waits for them. */
const STATEMENT_MS = 180_000;

/** Reading one takes a core and 100 MB, storing it a connection for seconds: the rest wait with their bytes. */
const TURNS = { places: 2, maxWaiting: 1_000, maxWaitMs: 600_000, retryAfterSeconds: 60 };

/**
 * Makes the job that reads a courier's customers from its own system. Whatever that system does ends the run, as
 * succeeded or failed. It throws for what is ours alone; done again, it starts over.
 */
export function makeCustomerSync(deps: SyncDeps): (job: Jobs['syncCustomers']) => Promise<void> {
  const turns = makeKeyedLimiter(TURNS);
  const readAnswer = makeAnswerReader(TURNS.places);
  const quota = customerChanges(deps.config.customerChangesPerDay);
  return async ({ tenantId, runId }) => {
    const { db, log } = deps;
    const caller: SystemCaller = { kind: 'system', tenantId };
    const [started] = await pipeline(db, caller, [startRun(db, caller, runId)]);
    // as: the columns that the statement returns
    const run = started?.[0] as StartedRun | undefined;
    // ended, by another worker or as abandoned
    if (!run) return;
    const startedMs = performance.now();
    const read = await readTarget(deps, tenantId, run);
    if ('isPostponed' in read) return askAgain(db, caller, runId);
    const end =
      'error' in read
        ? await fail(db, caller, runId, read)
        : await turns.run(`${tenantId} ${run.courier_id}`, () =>
            readAndStore(db, caller, { runId, courierId: run.courier_id, quota, readAnswer, ...read }),
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

/** The run goes on being open; its job is done again when the address may get requests. */
async function askAgain(db: Db, caller: SystemCaller, runId: string): Promise<void> {
  const job = { tenantId: caller.tenantId, runId };
  await pipeline(db, caller, [addJobs('syncCustomers', [job], { withinSeconds: 10 })]);
}

/** Undefined when the run was ended meanwhile. */
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
type Read = Body | { isPostponed: true } | { httpStatus: number | null; error: string };

async function readTarget(
  { secrets, outbound }: SyncDeps,
  tenantId: string,
  { courier_id: rowId, url, api_token_cipher: cipher }: StartedRun,
): Promise<Read> {
  if (url === null) return { httpStatus: null, error: 'api_url_get_customers is no longer set.' };
  const token = cipher && secrets.decrypt(cipher, { tenantId, rowId, field: 'api_token' });
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Crossdock',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  };
  return toRead(
    await outbound.send({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }),
  );
}

function toRead(reply: OutboundReply): Read {
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
type Sent = Body & { readAnswer: AnswerReader };

async function readAndStore(
  db: Db,
  caller: SystemCaller,
  { body, httpStatus, readAnswer, ...target }: Target & Sent,
): Promise<RunEnd | undefined> {
  const answer = await readAnswer(body);
  return 'fault' in answer
    ? fail(db, caller, target.runId, { httpStatus, error: answer.fault })
    : storeOrFail(db, caller, target, httpStatus, answer);
}

/** Nothing is stored of a list that would change more customers than the courier may in a day. */
async function storeOrFail(
  db: Db,
  caller: SystemCaller,
  target: Target,
  httpStatus: number,
  answer: Exclude<Answer, { fault: string }>,
): Promise<RunEnd | undefined> {
  try {
    return await store(db, caller, target, httpStatus, answer);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'quota_exceeded')) throw error;
    const words = `It would change more customers than a courier may in a day: ${target.quota.limit}. Nothing was stored. Synchronise again after midnight UTC.`;
    return fail(db, caller, target.runId, { httpStatus, error: words });
  }
}

/** Stores the customers and ends the run, both or neither; undefined when the run was ended meanwhile. */
function store(
  db: Db,
  caller: SystemCaller,
  { runId, courierId, quota }: Target,
  httpStatus: number,
  answer: Exclude<Answer, { fault: string }>,
): Promise<RunEnd | undefined> {
  return bulkTransaction(db, caller, STATEMENT_MS, async (tx) => {
    await tx.query(lockUploads(caller.tenantId, courierId));
    if ((await tx.query(lockRunning(db, caller, runId))).length === 0) return undefined;
    const { packed, sha256 } = answer;
    const what = { runId, courierId, packed, sha256, maxIncomplete: MAX_PROBLEMS };
    const asker = { tenantId: caller.tenantId, courierId };
    if (answer.customers > (await remainingQuota(tx, quota, asker)))
      await assertRoom(db, tx, caller, { quota, what });
    const { created, updated, incomplete, incomplete_first } = await apply(db, tx, caller, what);
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
    await takeQuota(tx, quota, asker, created + updated);
    await tx.query(endRun(db, caller, runId, end));
    return end;
  });
}

/** Asked before anything is written: rows that are undone again would fill the tables all the same. */
async function assertRoom(
  db: Db,
  tx: PlainTx,
  caller: SystemCaller,
  { quota, what }: { quota: Quota; what: SentList },
): Promise<void> {
  const [counted] = await tx.query<{ changes: number }>(countSyncChanges(db, caller, what));
  const asker = { tenantId: caller.tenantId, courierId: what.courierId };
  await assertQuota(tx, quota, asker, counted?.changes);
}

async function apply(
  db: Db,
  tx: PlainTx,
  caller: SystemCaller,
  what: Parameters<typeof applySync>[2],
): Promise<AppliedSync> {
  const sum = { created: 0, updated: 0 };
  for (;;) {
    // again for what was created or renamed meanwhile: what this transaction has written is unchanged by now
    const [applied] = await tx.query<AppliedSync>(applySync(db, caller, what));
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
  message: `Record ${index}: ${lacks} is missing, and the customer is new.`,
});
