import type { components } from '../../../generated/contract.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { columns } from '../../platform/db/columns.js';
import { allOf, ownRows, tenantRows } from '../../platform/db/filters.js';
import { limitPast } from '../../platform/db/pages.js';
import type { UserScope } from '../../platform/db/scope.js';
import { raw, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { RefusedField } from '../../platform/identity/call.js';
import { LEFT_OUT, START_OF_DAY } from './left-out.js';

export type CallQuery = QueryOf<'listApiCalls'>;
type Record = components['schemas']['ApiCall'];

const CALL = columns('ApiCall', 'l', [
  'requestId',
  'calledAt',
  'courierId',
  'operationId',
  'status',
  'code',
  'refused',
  'durationMs',
  'credential',
  'credentialId',
  'credentialHint',
  'isReplayed',
]);

export type CallRow = Omit<RowOf<typeof CALL>, 'credential' | 'refused'> &
  Pick<Record, 'credential' | 'parcels'> & {
    refused: RefusedField[] | null;
    /** That of the request, for the page. */
    id: string;
    courierName: string;
    credentialName: string | null;
    parcelCount: number;
  };

const FAILED = sql`(l.status is null or l.status >= 400)`;

const ofClass = (statusClass: components['schemas']['ApiCallStatusClass']): Sql => {
  if (statusClass === 'aborted') return sql`${FAILED} and l.status is null`;
  const first = Number(statusClass.charAt(0)) * 100;
  const range = sql`l.status between ${first}::smallint and ${first + 99}::smallint`;
  return first < 400 ? range : sql`${FAILED} and ${range}`;
};

/** Request ids begin with the milliseconds of the process's clock. The database's clock, which filters decide by, differs by less. */
const CLOCKS_DIFFER_MS = 60 * 60 * 1000;

/** The least UUIDv7 of a time, so that the index finds where a period begins or ends. */
function idAt(time: string, shiftMs: number): Sql {
  const ms = Math.max(0, Date.parse(`${time.replace(' ', 'T')}Z`) + shiftMs);
  const hex = ms.toString(16).padStart(12, '0');
  return sql`${`${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`}::uuid`;
}

/** Selects a page and one row more, newest first. @param parcelKeys those of the parcel that is looked for */
export function pageOfCalls(ctx: UserScope, query: CallQuery, parcelKeys: string[]): Sql<CallRow> {
  const conditions = allOf(
    ownRows(ctx, 'l'),
    ofCourier(ctx, 'l', query),
    query.request_id && sql`l.request_id = ${query.request_id}::uuid`,
    query.parcel &&
      sql`l.request_id in (
      select p.request_id from api_call_parcels p
      where ${ownRows(ctx, 'p')} and p.tenant_id = l.tenant_id and p.parcel_key = any(${parcelKeys}::text[]))`,
    query.status_class && ofClass(query.status_class),
    query.code && sql`${FAILED} and l.code = ${query.code}`,
    query.operation && sql`l.operation_id = ${query.operation}`,
    query.credential && sql`l.credential = ${query.credential}`,
    query.credential_id && sql`l.credential_id = ${query.credential_id}::uuid`,
    query.since &&
      sql`l.called_at >= ${query.since}::timestamp at time zone 'UTC' and l.request_id >= ${idAt(query.since, -CLOCKS_DIFFER_MS)}`,
    query.until &&
      sql`l.called_at < ${query.until}::timestamp at time zone 'UTC' and l.request_id < ${idAt(query.until, CLOCKS_DIFFER_MS)}`,
    query.before && sql`l.request_id < ${query.before}::uuid`,
  );
  return sql`
    select ${CALL}, l.request_id as id, c.name as "courierName", coalesce(t.name, u.username) as "credentialName",
      p.parcels, p.count as "parcelCount"
    from (select l.* from api_calls l where ${conditions} order by l.request_id desc ${limitPast(query.limit)}) l
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = l.tenant_id and c.id = l.courier_id
    left join service_tokens t on ${ownRows(ctx, 't')} and l.credential = 'service_token' and t.tenant_id = l.tenant_id
      and t.id = l.credential_id and t.courier_id = l.courier_id
    left join users u on ${ownRows(ctx, 'u')} and l.credential = 'access_token' and u.tenant_id = l.tenant_id
      and u.id = l.credential_id and u.courier_id = l.courier_id
    cross join lateral (
      select coalesce((array_agg(p.parcel_key order by p.parcel_key))[1:5], '{}') as parcels, count(*)::int as count
      from api_call_parcels p where ${ownRows(ctx, 'p')} and p.tenant_id = l.tenant_id and p.request_id = l.request_id
    ) p
    order by l.request_id desc`;
}

/** Counts the calls of today that were not kept. */
export const countLeftOut = (ctx: UserScope, query: CallQuery): Sql<{ total: number }> => sql`
  select coalesce(sum(q.used), 0)::float8 as total from courier_quotas q
  where ${allOf(ownRows(ctx, 'q'), ofCourier(ctx, 'q', query))} and q.kind = ${LEFT_OUT} and q.period_start = ${START_OF_DAY}`;

/** A courier only ever sees its own calls, whatever courier_id says. */
const ofCourier = (ctx: UserScope, alias: 'l' | 'q', { courier_id: courierId }: CallQuery): Sql | '' =>
  ctx.caller.courierId === null && courierId !== undefined
    ? sql`${raw(alias)}.courier_id = ${courierId}::uuid`
    : '';
