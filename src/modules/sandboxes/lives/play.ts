import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext, type UserContext } from '../../../platform/context/request-context.js';
import { sandboxCallers, type Db } from '../../../platform/db/database.js';
import { ApiError, type FailureCode } from '../../../platform/errors/errors.js';
import type { PersonCaller } from '../../../platform/identity/callers.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import { lockClock, selectStaff } from './queries.js';
import { lockSandbox, queuePlaying, startMagicLives } from './start.js';
import {
  lockAtStep,
  nextDue,
  recordAttempt,
  recordPlayed,
  recordRefused,
  type PlayedLife,
} from './step-queries.js';
import { PLAY } from './steps.js';
import { isLifeName, LIVES } from './table.js';

type Own = Pick<TaskDeps, 'db' | 'stopping'>;

/** What one run plays in a sandbox. A further job plays the rest, after the jobs that wait. */
const STEPS_PER_RUN = 100;

/** After so many failures that are not the courier's, a step ends its life, so that the others go on. */
const MAX_ATTEMPTS = 5;

/** Cron job: starts the lives of new pre-alerts, and plays what is due, in all open sandboxes. */
export async function playSandboxes(own: Own): Promise<void> {
  const failures: unknown[] = [];
  for (const { tenantId } of await sandboxCallers(own.db)) {
    if (own.stopping.aborted) break;
    await playSandbox(own, { tenantId }).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} sandboxes failed.`);
}

/**
 * Starts the lives of new pre-alerts of a sandbox, and plays the steps that are due, in the order of their times. Of several runs at the
 * same time, one plays a step.
 */
export async function playSandbox({ db, stopping }: Own, { tenantId }: { tenantId: string }): Promise<void> {
  const staff = await findStaff(db, tenantId);
  if (!staff) return;
  try {
    for (let played = 0; !stopping.aborted; played += 1) {
      const ctx = makeContext(db, userOf(staff), BACKGROUND);
      const [[life]] = await ctx.read([nextDue(ctx)]);
      if (!life) return;
      if (played === STEPS_PER_RUN) {
        await ctx.write([queuePlaying(ctx)]);
        return;
      }
      await playStep(db, ctx, life);
    }
  } catch (error) {
    // The sandbox was ended meanwhile, and its user with it.
    if (!(error instanceof ApiError) || !ENDED.has(error.code)) throw error;
  }
}

const ENDED = new Set<FailureCode>(['account_disabled', 'token_invalid']);

type Staff = { tenantId: string; userId: string; tokenVersion: number };

/** Starts what waits. Returns the user that plays the staff, or undefined if no life is playing. */
async function findStaff(db: Db, tenantId: string): Promise<Staff | undefined> {
  const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
  const [[staff]] = await ctx.read([selectStaff(ctx)]);
  if (!staff?.hasWork) return undefined;
  await ctx.write(async (tx) => {
    await lockSandbox(tx, staff.courierId);
    await startMagicLives(tx, staff.courierId);
  });
  return { tenantId, ...staff };
}

const STEP_SECONDS = 600;

/** The user of the sandbox, whose password nobody knows, as if it were logged in. It has no second factor, whatever is required. */
const userOf = ({ tenantId, userId, tokenVersion }: Staff): PersonCaller => ({
  kind: 'user',
  tenantId,
  userId,
  role: 'admin',
  courierId: null,
  tokenVersion,
  expiresAt: Math.floor(Date.now() / 1_000) + STEP_SECONDS,
  enrolsFactor: true,
});

/** Another run has played the step, or the life was stopped. */
class PlayedMeanwhile extends Error {}

/**
 * Plays a step and records it in the transaction of its operation, so that each is played at most once. A refusal ends the life.
 *
 * @param ctx has read the life, and may read and write
 */
async function playStep(db: Db, ctx: UserContext, life: PlayedLife): Promise<void> {
  const steps = isLifeName(life.life) ? LIVES[life.life] : [];
  const step = steps[life.stepsPlayed];
  if (!step) throw new Error(`The life ${life.life} has no step ${life.stepsPlayed}.`);
  const hold = ctx.holdWrite(async (tx) => {
    const [, [still]] = await tx.query([lockClock(tx), lockAtStep(tx, life)]);
    if (!still) throw new PlayedMeanwhile();
  });
  try {
    const made = await PLAY[step.name](ctx, life);
    // A step that finds its work done has opened no transaction.
    if (!hold.transaction) await ctx.write(() => Promise.resolve());
    const next = steps[life.stepsPlayed + 1]?.afterHours ?? null;
    await hold.transaction?.tx.query(recordPlayed(ctx, life, made, next));
    await hold.transaction?.commit();
  } catch (error) {
    await hold.transaction?.rollback(error);
    if (error instanceof PlayedMeanwhile) return;
    await recordFailure(db, ctx, life, error);
  }
}

/** @throws the error, unless the operation has refused the step */
async function recordFailure(
  db: Db,
  { caller }: UserContext,
  life: PlayedLife,
  error: unknown,
): Promise<void> {
  if (error instanceof ApiError && ENDED.has(error.code)) throw error;
  // Of its own, because the transaction of the step was rolled back.
  const ctx = makeContext(db, caller, BACKGROUND);
  const isRefusal = error instanceof ApiError && error.httpStatus < 500;
  if (isRefusal) {
    await ctx.write([recordRefused(ctx, life, { code: error.code, message: error.message })]);
    return;
  }
  const isLast = life.attempts + 1 >= MAX_ATTEMPTS;
  const failed = { code: 'internal_error', message: 'The step failed several times. Start another life.' };
  await ctx.write([isLast ? recordRefused(ctx, life, failed) : recordAttempt(ctx, life)]);
  throw error;
}
