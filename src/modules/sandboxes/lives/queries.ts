import { columns } from '../../../platform/db/columns.js';
import { ownRows, tenantRows, type FilterScope, type Reader } from '../../../platform/db/filters.js';
import type { SandboxLife } from '../../../platform/db/models/types.js';
import { isSandbox } from '../../../platform/db/sandbox.js';
import type { Scope, SystemScope, UserScope } from '../../../platform/db/scope.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { LIVES, MAGIC_WORDS, PREFIX } from './table.js';

/** Of the sandbox itself, or of its live tenant. */
type Readers = FilterScope<Reader>;

/** What a clock has until somebody sets it: an hour per minute, from the real time. */
const USUAL_SPEED = 60;

/** Later times are no dates of four digits. */
const LAST_TIME = sql`timestamptz '9000-01-01 00:00:00Z'`;

/** What the clock `k` shows. */
export const NOW = sql`least(k.sandbox_time + (clock_timestamp() - k.anchored_at) * k.speed, ${LAST_TIME})`;

// The range of the key is for the index: without it, all pending pre-alerts of the day are read. A magic number is its own key.
const LIKE_MAGIC = sql`p.tracking_key >= 'LIFE' and p.tracking_key < 'LIFF' and p.status = 'pending' and p.created_at > now() - interval '1 day'`;

const IS_MAGIC = sql`(split_part(p.tracking_number, '-', 1) || '-' = ${PREFIX}::text
  and split_part(p.tracking_number, '-', 2) = any(${MAGIC_WORDS}::text[])
  and split_part(p.tracking_number, '-', 3) <> '')`;

const STARTING_PREALERTS = sql`${LIKE_MAGIC} and ${IS_MAGIC}
  and not exists (select from sandbox_lives started where started.tenant_id = p.tenant_id and started.prealert_id = p.id)`;

/** The courier of the sandbox that the scope is of. Returns no row outside of sandboxes. */
export const courierOfSandbox = (ctx: Scope): Sql<{ id: string }> => once`
  select c.id from couriers c where ${tenantRows(ctx, 'c')} and ${isSandbox(ctx)} order by c.id limit 1`;

/** The user that plays the staff, and whether a life is playing or could start. Returns no row once the sandbox has ended. */
export const selectStaff = (
  ctx: SystemScope,
): Sql<{ courierId: string; userId: string; tokenVersion: number; hasWork: boolean }> => once`
  select c.id as "courierId", u.id as "userId", u.token_version as "tokenVersion",
    exists (select from sandbox_lives l where ${tenantRows(ctx, 'l')} and l.state = 'playing')
      or exists (select from prealerts p where ${tenantRows(ctx, 'p')} and ${STARTING_PREALERTS}) as "hasWork"
  from couriers c
  join users u on ${tenantRows(ctx, 'u')} and u.tenant_id = c.tenant_id and u.role = 'admin' and u.is_active
  where ${tenantRows(ctx, 'c')} and c.is_active and ${isSandbox(ctx)}
  order by u.id, c.id limit 1`;

// The clock ----------------------------------------------------------------------------------------------

/** Adds the clock of the sandbox, if it has none yet. */
export const addClock = ({ tenantId }: Scope, courierId: string): Sql => once`
  insert into sandbox_clocks (tenant_id, courier_id, speed, sandbox_time)
  values (${tenantId}::uuid, ${courierId}::uuid, ${USUAL_SPEED}, now()) on conflict (tenant_id) do nothing`;

/** Every change of the clock and of lives takes this lock first, and every step: steps of a sandbox are played one after the other. */
export const lockClock = (ctx: Scope): Sql =>
  once`select from sandbox_clocks k where ${tenantRows(ctx, 'k')} for update`;

type Move = { hours?: number; speed?: number; toNextStep?: boolean };

/** Moves the clock and sets its speed, from now on. */
export const moveClock = (ctx: UserScope, { hours = 0, speed, toNextStep = false }: Move): Sql => once`
  update sandbox_clocks k set speed = coalesce(${speed ?? null}::int, k.speed), anchored_at = clock_timestamp(),
    sandbox_time = greatest(${NOW}, least(${NOW} + make_interval(hours => ${hours}::int), ${LAST_TIME}),
      case when ${toNextStep}::boolean then (select min(l.next_due_at) from sandbox_lives l
        where ${ownRows(ctx, 'l')} and l.state = 'playing') end)
  where ${ownRows(ctx, 'k')}`;

export type ClockRow = { sandboxTime: Date; speed: number; stepsDue: number };

/** What the clock shows. Without one, what it would show if it were added now. */
export const readClock = (ctx: Readers): Sql<ClockRow> => once`
  select case when k.tenant_id is null then now() else ${NOW} end as "sandboxTime", coalesce(k.speed, ${USUAL_SPEED}) as speed,
    (select count(*)::int from sandbox_lives l where ${ownRows(ctx, 'l')} and l.state = 'playing'
      and l.next_due_at <= ${NOW}) as "stepsDue"
  from (select) as always left join sandbox_clocks k on ${ownRows(ctx, 'k')}`;

// Lives --------------------------------------------------------------------------------------------------

const LIFE = columns('SandboxLife', 'l', [
  'id',
  'life',
  'trackingNumber',
  'state',
  'stepsPlayed',
  'prealertId',
  'packageId',
  'manifestId',
  'billId',
  'nextDueAt',
  'refusedCode',
  'refusedMessage',
  'startedAt',
  'createdAt',
]);
export type LifeRow = RowOf<typeof LIFE>;

/** Those that are playing, and the last that have ended, newest first. */
export const listLives = (ctx: Readers, ended: number): Sql<LifeRow> => once`
  (select ${LIFE} from sandbox_lives l where ${ownRows(ctx, 'l')} and l.state = 'playing')
  union all
  (select ${LIFE} from sandbox_lives l where ${ownRows(ctx, 'l')} and l.state <> 'playing'
    order by l.created_at desc, l.id desc limit ${ended}::int)
  order by "createdAt" desc, id desc`;

/** Selects the numbers of pending pre-alerts that begin like a magic one and start no life, the newest first. */
export const listMisspelled = (ctx: Readers, atMost: number): Sql<{ trackingNumber: string }> => once`
  select p.tracking_number as "trackingNumber" from prealerts p
  where ${ownRows(ctx, 'p')} and ${LIKE_MAGIC} and not ${IS_MAGIC} and not exists (
    select from sandbox_lives l where l.tenant_id = p.tenant_id and l.tracking_number = p.tracking_number)
  order by p.created_at desc, p.id desc limit ${atMost}::int`;

export const countPlaying = (ctx: Scope): Sql<{ playing: number }> => once`
  select count(*)::int as playing from sandbox_lives l where ${tenantRows(ctx, 'l')} and l.state = 'playing'`;

/** The hours after which the first step of each life is due. */
const FIRST_HOURS = JSON.stringify(
  Object.fromEntries(Object.entries(LIVES).map(([life, [first]]) => [life, first?.afterHours ?? 0])),
);

/** Starts the lives of at most so many pre-alerts with magic numbers, the oldest first. Returns the lives. */
export const startOfPrealerts = (
  ctx: FilterScope<{ tenantId: string }>,
  atMost: number,
): Sql<{ id: string; life: string }> => once`
  insert into sandbox_lives (tenant_id, id, courier_id, life, tracking_number, prealert_id, started_at, next_due_at)
  select p.tenant_id, gen_random_uuid(), p.courier_id, magic.life, p.tracking_number, p.id, magic.now,
    magic.now + make_interval(hours => (${FIRST_HOURS}::jsonb ->> magic.life)::int)
  from prealerts p
  join sandbox_clocks k on ${tenantRows(ctx, 'k')} and k.tenant_id = p.tenant_id
  cross join lateral (select lower(split_part(p.tracking_number, '-', 2)) as life, ${NOW} as now) as magic
  where ${tenantRows(ctx, 'p')} and ${STARTING_PREALERTS}
  order by p.created_at, p.id limit ${atMost}::int
  returning id, life`;

export type NewLife = Pick<SandboxLife, 'id' | 'courierId' | 'life' | 'trackingNumber'>;

export const insertLife = (ctx: UserScope, { id, courierId, life, trackingNumber }: NewLife): Sql => once`
  insert into sandbox_lives (tenant_id, id, courier_id, life, tracking_number, started_at, next_due_at)
  select k.tenant_id, ${id}::uuid, ${courierId}::uuid, ${life}::text, ${trackingNumber}, ${NOW},
    ${NOW} + make_interval(hours => (${FIRST_HOURS}::jsonb ->> ${life}::text)::int)
  from sandbox_clocks k where ${ownRows(ctx, 'k')}`;

/** Returns no row if the life does not exist, and `isStopped` false if it had ended before. */
export const stopLife = (ctx: UserScope, id: string): Sql<{ state: string; isStopped: boolean }> => once`
  with stopped as (
    update sandbox_lives l set state = 'stopped', next_due_at = null, updated_at = now()
    where ${ownRows(ctx, 'l')} and l.id = ${id}::uuid and l.state = 'playing' returning l.id)
  select l.state, exists (select from stopped) as "isStopped"
  from sandbox_lives l where ${ownRows(ctx, 'l')} and l.id = ${id}::uuid`;
