import { columns } from '../../../platform/db/columns.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { Bill } from '../../../platform/db/models/types.js';
import type { Scope, UserScope } from '../../../platform/db/scope.js';
import { once, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { keyIn } from '../../tracking-numbers/public.js';
import { NOW } from './queries.js';
import { LIVES } from './table.js';

const PLAYED = columns('SandboxLife', 'l', [
  'id',
  'courierId',
  'life',
  'trackingNumber',
  'stepsPlayed',
  'prealertId',
  'packageId',
  'manifestId',
  'billId',
  'attempts',
]);
export type PlayedLife = RowOf<typeof PLAYED>;

/** The life whose next step is due first. Lives of a later release, which this one does not know, are left out. */
export const nextDue = (ctx: UserScope): Sql<PlayedLife> => once`
  select ${PLAYED} from sandbox_clocks k join sandbox_lives l on ${ownRows(ctx, 'l')} and l.tenant_id = k.tenant_id
  where ${ownRows(ctx, 'k')} and l.state = 'playing' and l.next_due_at <= ${NOW} and l.life = any(${Object.keys(LIVES)}::text[])
  order by l.next_due_at, l.id limit 1`;

/** Returns a row, and locks it, if the step that was read is still the next one. */
export const lockAtStep = (ctx: Scope, { id, stepsPlayed }: PlayedLife): Sql<{ id: string }> => once`
  select l.id from sandbox_lives l
  where ${tenantRows(ctx, 'l')} and l.id = ${id}::uuid and l.state = 'playing' and l.steps_played = ${stepsPlayed}::int
  for update`;

/** The records that a step has made. */
export type Made = Partial<Pick<PlayedLife, 'packageId' | 'manifestId' | 'billId'>>;

/** @param nextHours after the start of the life; null after the last step */
export const recordPlayed = (
  ctx: Scope,
  { id }: PlayedLife,
  { packageId, manifestId, billId }: Made,
  nextHours: number | null,
): Sql => once`
  update sandbox_lives l set steps_played = l.steps_played + 1, attempts = 0, updated_at = now(),
    package_id = coalesce(${packageId ?? null}::uuid, l.package_id),
    manifest_id = coalesce(${manifestId ?? null}::uuid, l.manifest_id),
    bill_id = coalesce(${billId ?? null}::uuid, l.bill_id),
    state = case when ${nextHours}::int is null then 'finished' else 'playing' end,
    next_due_at = l.started_at + make_interval(hours => ${nextHours}::int)
  where ${tenantRows(ctx, 'l')} and l.id = ${id}::uuid`;

/** Ends a life whose step was refused, unless the step was played or the life stopped meanwhile. */
export const recordRefused = (
  ctx: Scope,
  { id, stepsPlayed }: PlayedLife,
  { code, message }: { code: string; message: string },
): Sql => once`
  update sandbox_lives l set state = 'refused', next_due_at = null, refused_code = ${code}, refused_message = ${message},
    updated_at = now()
  where ${tenantRows(ctx, 'l')} and l.id = ${id}::uuid and l.state = 'playing' and l.steps_played = ${stepsPlayed}::int`;

/** Counts a failure of the next step that is not the courier's. */
export const recordAttempt = (ctx: Scope, { id, stepsPlayed }: PlayedLife): Sql => once`
  update sandbox_lives l set attempts = l.attempts + 1, updated_at = now()
  where ${tenantRows(ctx, 'l')} and l.id = ${id}::uuid and l.state = 'playing' and l.steps_played = ${stepsPlayed}::int`;

// What steps are played with -----------------------------------------------------------------------------

/** The pre-alert of a life, with the code of another customer of its courier; null if there is none. */
export const prealertOfLife = (
  ctx: UserScope,
  id: string | null,
): Sql<{ trackingNumber: string; otherCode: string | null }> => once`
  select p.tracking_number as "trackingNumber", (select c.user_code from customers c
      where ${ownRows(ctx, 'c')} and c.courier_id = p.courier_id and c.user_code <> p.user_code and c.is_active
      order by c.user_code limit 1) as "otherCode"
  from prealerts p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;

/** The package of a life, with its bill; null if it has none. The month of its receipt is in UTC, as bills count days. */
export const packageOfLife = (
  ctx: UserScope,
  id: string,
): Sql<{
  trackingNumber: string;
  month: string;
  now: Date;
  billId: string | null;
  billStatus: Bill['status'] | null;
}> => once`
  select p.tracking_number as "trackingNumber", to_char(p.received_at at time zone 'UTC', 'YYYY-MM') as month, now() as now,
    b.id as "billId", b.status as "billStatus"
  from packages p
  left join bill_lines n on ${ownRows(ctx, 'n')} and n.tenant_id = p.tenant_id and n.package_id = p.id
  left join bills b on ${ownRows(ctx, 'b')} and b.tenant_id = n.tenant_id and b.id = n.bill_id
  where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;

/** Who wants a parcel without an owner: the courier's open pre-alert of the number, otherwise its open claim. */
export const claimantOf = (
  ctx: UserScope,
  courierId: string,
  keys: string[],
): Sql<{ kind: 'prealert' | 'claim'; id: string }> => once`
  (select 'prealert' as kind, p.id from prealerts p
    where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and ${keyIn('p', keys)} and p.status in ('pending', 'flagged')
    order by p.id limit 1)
  union all
  (select 'claim', c.id from parcel_claims c
    where ${ownRows(ctx, 'c')} and c.courier_id = ${courierId}::uuid and ${keyIn('c', keys)} and c.status = 'open'
    order by c.id limit 1)
  limit 1`;

/** The code of the courier's first customer. */
export const firstCode = (ctx: UserScope, courierId: string): Sql<{ userCode: string }> => once`
  select c.user_code as "userCode" from customers c
  where ${ownRows(ctx, 'c')} and c.courier_id = ${courierId}::uuid and c.is_active order by c.user_code limit 1`;
