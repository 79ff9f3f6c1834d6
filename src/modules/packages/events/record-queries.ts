import { tenantRows } from '../../../platform/db/filters.js';
import type { Package } from '../../../platform/db/models/types.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { SUSPENDED, type PackageState, type PackageStatus } from './transitions.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE_EVENT = columns('PackageEvent', 'e', ['packageId']);

/** Selects whether a time, `YYYY-MM-DD HH:MM:SS` in UTC, is in the future; null without a time. */
export function isInFuture(moment: string | null): Sql<{ isFuture: boolean | null }> {
  return once`select ${moment}::timestamp at time zone 'UTC' > clock_timestamp() as "isFuture"`;
}

/** Locks the packages that exist in the tenant. */
export function lockedPackages(ctx: UserScope, ids: string[]): Sql<Pick<Package, 'id'>> {
  // Sorted, because two transactions that lock the same packages in opposite orders would deadlock.
  return once`select p.id from packages p where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[])
    order by p.id for no key update`;
}

export type PackageStateRow = PackageState & {
  id: string;
  /** The time of the last event, `YYYY-MM-DD HH:MM:SS` in UTC, or null without events. */
  lastEventAt: string | null;
  /** Whether the package has as many events as are stored. */
  isFull: boolean;
};

/** The most events that a package has before only `delivered` and `returned` are recorded (decision 0073). */
export const MAX_EVENTS = 1_000;

/**
 * Selects the current state of locked packages. It must be a separate statement: the statement that waited
 * for the locks still sees the other tables as they were before the wait.
 */
export function selectPackageStates(ctx: UserScope, ids: string[]): Sql<PackageStateRow> {
  const own = sql`e.tenant_id = p.tenant_id and e.package_id = p.id`;
  return once`select p.id, p.status, coalesce(unsuspended.status, 'received') as "unsuspendedStatus",
      coalesce(m.status in ('shipped', 'completed'), false) as "hasManifestLeft",
      to_char(date_trunc('second', latest.occurred_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "lastEventAt",
      exists (select from package_events e where ${own} order by e.place offset ${MAX_EVENTS - 1}::int) as "isFull"
    from packages p
    left join manifests m on m.tenant_id = p.tenant_id and m.id = p.manifest_id
    left join lateral (select e.occurred_at from package_events e where ${own} order by e.place desc limit 1) latest on true
    left join lateral (select e.status from package_events e where ${own} and e.status <> all(${[...SUSPENDED]})
      order by e.place desc limit 1) unsuspended on true
    where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[])`;
}

/** `occurredAt` is `YYYY-MM-DD HH:MM:SS` in UTC, with or without a fraction; null for now. */
export type EventDetails = { occurredAt: string | null; location: string | null; remarks: string | null };

export type Move = EventDetails & {
  id: string;
  eventId: string;
  previous: PackageStatus;
  status: PackageStatus;
};

/** `occurredAt` is `YYYY-MM-DD HH:MM:SS` in UTC. */
export type EventRow = RowOf<typeof PACKAGE_EVENT> & { occurredAt: string };

/**
 * Updates the status of the packages that still have the expected previous status, and appends an event to the history
 * of each. An event that is not later than the latest one is ordered after it, and none is in the future.
 */
export function moveAndAppend(ctx: UserScope, moves: Move[]): Sql<EventRow> {
  // Uses the statement's time: the transaction may have begun before the latest event was recorded.
  // With the ids also as an array, PostgreSQL looks them up. Otherwise it joined 1,000 of them with all of 100,000 packages.
  return once`with moved as (
      update packages p set status = move.status, updated_at = now() from ${movesOf(moves)}
      where ${tenantRows(ctx, 'p')} and p.id = any(${moves.map(({ id }) => id)}::uuid[])
        and p.id = move.id and p.status = move.previous
      returning p.tenant_id, p.id, p.courier_id, move.event_id, move.previous, move.status, move.occurred_at,
        move.location, move.remarks)
    insert into package_events as e (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id,
      occurred_at, recorded_at, source, location, remarks)
    select m.tenant_id, m.event_id, m.id, m.courier_id, m.previous, m.status, ${ctx.caller.userId}::uuid,
      greatest(least(m.occurred_at::timestamp at time zone 'UTC', statement_timestamp()), latest.occurred_at),
      statement_timestamp(), 'recorded', m.location, m.remarks
    from moved m
    left join lateral (select l.occurred_at from package_events l where l.tenant_id = m.tenant_id and l.package_id = m.id
      order by l.place desc limit 1) latest on true
    returning ${PACKAGE_EVENT},
      to_char(date_trunc('second', e.occurred_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "occurredAt"`;
}

function movesOf(moves: Move[]): Sql {
  const column = (key: keyof Move) => moves.map((move) => move[key]);
  return sql`unnest(${column('id')}::uuid[], ${column('eventId')}::uuid[], ${column('previous')}::text[],
    ${column('status')}::text[], ${column('occurredAt')}::text[], ${column('location')}::text[],
    ${column('remarks')}::text[]) as move (id, event_id, previous, status, occurred_at, location, remarks)`;
}
