import type { components } from '../../../generated/contract.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { columns } from '../../platform/db/columns.js';
import { allOf, ownRows, tenantRows } from '../../platform/db/filters.js';
import type { IntegrationCheck } from '../../platform/db/models/types.js';
import type { SystemScope, UserScope } from '../../platform/db/scope.js';
import { raw, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { Finding } from './finding.js';

type Check = components['schemas']['IntegrationCheck'];
type Endpoint = Check['endpoint'];

const CHECK = columns('IntegrationCheck', 'k', [
  'id',
  'courierId',
  'endpoint',
  'status',
  'url',
  'format',
  'findings',
  'requests',
  'error',
  'createdAt',
  'startedAt',
  'finishedAt',
]);
const COURIER_NAME = columns('Courier', 'c', { courierName: 'name' });

export type CheckRow = Omit<RowOf<typeof CHECK>, 'endpoint' | 'status' | 'format' | 'findings' | 'requests'> &
  Pick<Check, 'endpoint' | 'status' | 'format'> & {
    courierName: string;
    findings: Finding[] | null;
    requests: Check['requests'] | null;
  };

type CheckId = Pick<IntegrationCheck, 'id'>;

/** Returns no row if the URL already has an open check. */
export function insertCheck(
  ctx: UserScope,
  { id, courierId, endpoint }: { id: string; courierId: string; endpoint: Endpoint },
): Sql<CheckId> {
  return sql`insert into integration_checks (tenant_id, id, courier_id, endpoint, requested_by)
    values (${ctx.tenantId}::uuid, ${id}::uuid, ${courierId}::uuid, ${endpoint}, ${ctx.caller.userId}::uuid)
    on conflict (tenant_id, courier_id, endpoint) where status in ('queued', 'running') do nothing
    returning id`;
}

export const findOpen = (ctx: UserScope, courierId: string, endpoint: Endpoint): Sql<CheckId> =>
  sql`select k.id from integration_checks k
    where ${ownRows(ctx, 'k')} and k.courier_id = ${courierId}::uuid and k.endpoint = ${endpoint}
      and k.status in ('queued', 'running')`;

export const oneCheck = (ctx: UserScope, id: string): Sql<CheckRow> =>
  withCourierName(
    ctx,
    sql`select k.* from integration_checks k where ${ownRows(ctx, 'k')} and k.id = ${id}::uuid`,
  );

/** Selects a page and one row more, newest first. Ids are ordered by creation time. */
export function pageOfChecks(ctx: UserScope, query: QueryOf<'listIntegrationChecks'>): Sql<CheckRow> {
  const { courier_id: courierId, endpoint, check_id: id, before } = query;
  const conditions = allOf(
    ownRows(ctx, 'k'),
    // A courier only ever sees its own checks, whatever courier_id says.
    ctx.caller.courierId === null && courierId && sql`k.courier_id = ${courierId}::uuid`,
    endpoint && sql`k.endpoint = ${endpoint}`,
    id && sql`k.id = ${id}::uuid`,
    before && sql`k.id < ${before}::uuid`,
  );
  return withCourierName(
    ctx,
    sql`select k.* from integration_checks k where ${conditions} order by k.id desc limit ${query.limit}::integer + 1`,
  );
}

const withCourierName = (ctx: UserScope, checks: Sql): Sql<CheckRow> =>
  sql`select ${CHECK}, ${COURIER_NAME}
    from (${checks}) as k
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = k.tenant_id and c.id = k.courier_id
    order by k.id desc`;

export type StartedCheck = Pick<CheckRow, 'courierId' | 'endpoint'> & {
  apiUrlGetCustomers: string | null;
  apiTokenCipher: string | null;
  /** The records of the last synchronisation that succeeded. Null for none. */
  lastReceived: number | null;
};

/** Starts a queued check. Returns no row for one that was started before, so that its requests are not sent twice. */
export function startCheck(ctx: SystemScope, id: string): Sql<StartedCheck> {
  return sql`update integration_checks k set status = 'running', started_at = now()
    from couriers c
    where ${tenantRows(ctx, 'k')} and k.id = ${id}::uuid and k.status = 'queued'
      and ${tenantRows(ctx, 'c')} and c.tenant_id = k.tenant_id and c.id = k.courier_id
    returning k.courier_id as "courierId", k.endpoint, c.api_url_get_customers as "apiUrlGetCustomers",
      c.api_token_cipher as "apiTokenCipher",
      (select r.received from customer_sync_runs r
        where ${tenantRows(ctx, 'r')} and r.courier_id = k.courier_id and r.status = 'succeeded'
        order by r.id desc limit 1) as "lastReceived"`;
}

export type CheckEnd = Pick<CheckRow, 'url' | 'format' | 'error'> & {
  findings: Finding[];
  requests: Check['requests'];
};

/** Ends a running check, as failed if there is an error. */
export function endCheck(ctx: SystemScope, id: string, end: CheckEnd): Sql<CheckId> {
  return sql`update integration_checks k set status = ${end.error === null ? 'finished' : 'failed'},
      url = ${end.url}, format = ${end.format}, error = ${end.error}, finished_at = now(),
      findings = ${JSON.stringify(end.findings)}::jsonb, requests = ${JSON.stringify(end.requests)}::jsonb
    where ${tenantRows(ctx, 'k')} and k.id = ${id}::uuid and k.status = 'running'
    returning k.id`;
}

/** Fails the checks that have been open for so long that no worker can still be executing them. */
export function failAbandoned(ctx: SystemScope, afterMinutes: number, error: string): Sql<CheckId> {
  return sql`update integration_checks k set status = 'failed', finished_at = now(), error = ${error}
    where ${tenantRows(ctx, 'k')} and k.status in ('queued', 'running')
      and coalesce(k.started_at, k.created_at) < now() - ${raw(String(afterMinutes))} * interval '1 minute'
    returning k.id`;
}
