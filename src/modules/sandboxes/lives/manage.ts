import { auditLater } from '../../../platform/audit/audit.js';
import {
  makeContext,
  type PersonContext,
  type UserContext,
} from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { Db } from '../../../platform/db/database.js';
import type { FilterScope, Reader } from '../../../platform/db/filters.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { takeQuota } from '../../../platform/limits/stored/quotas.js';
import { newId, randomText } from '../../../platform/values/ids.js';
import {
  courierOfSandbox,
  insertLife,
  listLives,
  listMisspelled,
  moveClock,
  readClock,
  stopLife,
  type ClockRow,
  type LifeRow,
} from './queries.js';
import {
  LIVES_PER_DAY,
  lockSandbox,
  MAX_PLAYING,
  queuePlaying,
  roomForLives,
  startMagicLives,
} from './start.js';
import { PREFIX } from './table.js';

export type SandboxState = { clock: ClockRow; lives: LifeRow[]; misspelled: string[] };

type Body = BodyOf<'manageSandboxLives'>;

const ENDED_SHOWN = 50;

const MISSPELLED_SHOWN = 20;

const selectState = (ctx: FilterScope<Reader>) =>
  [readClock(ctx), listLives(ctx, ENDED_SHOWN), listMisspelled(ctx, MISSPELLED_SHOWN)] as const;

type StateRows = [clocks: ClockRow[], lives: LifeRow[], misspelled: { trackingNumber: string }[]];

function toState([[clock], lives, misspelled]: StateRows): SandboxState {
  if (!clock) throw new Error('A query of constants returned no row.');
  return { clock, lives, misspelled: misspelled.map(({ trackingNumber }) => trackingNumber) };
}

/** @throws ApiError not_a_sandbox */
export async function readLives(ctx: UserContext): Promise<SandboxState> {
  const [[courier], ...state] = await ctx.read([courierOfSandbox(ctx), ...selectState(ctx)]);
  if (!courier) throw new ApiError('not_a_sandbox');
  return toState(state);
}

/**
 * Reads the lives of a sandbox for its live courier, or for staff. The scope is that of the sandbox, so that no filter lets through more than one tenant.
 *
 * @param sandbox of the caller, which has found it among its own rows
 */
export async function readLivesFromOutside(
  { caller, requestId, applicationFilters }: PersonContext,
  db: Db,
  { id: tenantId, sandboxCourierId: courierId }: { id: string; sandboxCourierId: string },
): Promise<SandboxState> {
  const inside = makeContext(db, { kind: 'system', tenantId, onBehalfOf: caller }, requestId);
  return toState(await inside.read(selectState({ caller: { tenantId, courierId }, applicationFilters })));
}

/**
 * Starts the lives of new pre-alerts, executes the action, and queues the job that plays what is due then. Returns the clock and the lives
 * before that job. Locks, in this order: the clock, lives, the courier's quota.
 *
 * @throws ApiError not_a_sandbox, sandbox_life_not_found, sandbox_life_ended, too_many_sandbox_lives, quota_exceeded
 */
export function changeLives(ctx: UserContext, body: Body): Promise<SandboxState> {
  return ctx.write(async (tx) => {
    const [courier] = await tx.query(courierOfSandbox(tx));
    if (!courier) throw new ApiError('not_a_sandbox');
    await lockSandbox(tx, courier.id);
    await startMagicLives(tx, courier.id);
    await execute(tx, courier.id, body);
    await tx.query(queuePlaying(tx));
    return toState(await tx.query(selectState(tx)));
  });
}

async function execute(tx: UserTx, courierId: string, body: Body): Promise<void> {
  switch (body.action) {
    case 'start':
      return startLife(tx, courierId, body.life);
    case 'stop':
      return stop(tx, courierId, body.life_id);
    case 'advance':
      return move(tx, courierId, { hours: body.hours });
    case 'next_step':
      return move(tx, courierId, { toNextStep: true });
    case 'set_speed':
      return move(tx, courierId, { speed: body.speed });
  }
}

/** Without what looks alike, because somebody may type it. */
const NUMBER_LETTERS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const NUMBER_LENGTH = 8;

async function startLife(tx: UserTx, courierId: string, life: 'claimed'): Promise<void> {
  if ((await roomForLives(tx)) < 1)
    throw new ApiError('too_many_sandbox_lives', { args: { limit: MAX_PLAYING } });
  const id = newId();
  const trackingNumber = `${PREFIX}${life.toUpperCase()}-${randomText(NUMBER_LETTERS, NUMBER_LENGTH)}`;
  await tx.query(insertLife(tx, { id, courierId, life, trackingNumber }));
  auditLater(tx, 'courier.sandbox_lives_started', courierId, { after: { lives: [{ id, life }] } });
  await takeQuota(tx, LIVES_PER_DAY, courierId, 1);
}

async function stop(tx: UserTx, courierId: string, id: string): Promise<void> {
  const [life] = await tx.query(stopLife(tx, id));
  if (!life) throw new ApiError('sandbox_life_not_found');
  // The statement sees the life as it was before.
  if (!life.isStopped) throw new ApiError('sandbox_life_ended', { args: { state: life.state } });
  auditLater(tx, 'courier.sandbox_life_stopped', courierId, { after: { life_id: id } });
}

async function move(
  tx: UserTx,
  courierId: string,
  to: { hours?: number; speed?: number; toNextStep?: boolean },
): Promise<void> {
  await tx.query(moveClock(tx, to));
  const after = { hours: to.hours, speed: to.speed, to_next_step: to.toNextStep };
  auditLater(tx, 'courier.sandbox_clock_moved', courierId, { after });
}
