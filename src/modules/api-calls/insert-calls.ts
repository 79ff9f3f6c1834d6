import { tenantRows } from '../../platform/db/filters.js';
import type { SystemScope } from '../../platform/db/scope.js';
import { once, raw, sql, type Sql } from '../../platform/db/statements.js';
import type { RefusedField } from '../../platform/identity/call.js';
import { LEFT_OUT, START_OF_DAY } from './left-out.js';

/** A call under the names of its columns. */
export type SentCall = {
  request_id: string;
  /** Null if the database must find it by `key_hash`. */
  courier_id: string | null;
  key_hash: string | null;
  /** How long ago the call began. The database's clock decides when that was. */
  age_ms: number;
  operation_id: string;
  status: number | null;
  code: string | null;
  /** Null if there is none. */
  refused: RefusedField[] | null;
  duration_ms: number;
  credential: string;
  credential_id: string | null;
  credential_hint: string | null;
  is_replayed: boolean;
  parcels: string[];
};

/**
 * What is kept of a courier per UTC day, in rows: a call is one, and so is each parcel that it named. 200,000 rows are the 100,000 pre-alerts
 * of a busy day. Failures have room beside them. Above that a sample of the failures is kept, so that the last row of a flood is not the last
 * one of the day.
 */
const ROWS_PER_DAY = { success: 200_000, failure: 250_000, sample: 300_000 };
const SAMPLED_SHARE = 0.01;
const KEPT = 'api_call_rows';

/**
 * Inserts calls of a tenant, and counts them. Calls whose credential the tenant does not have are left out. Two processes that write at the
 * same time may each exceed what is kept per day by one batch.
 *
 * @param days until they are deleted
 */
export function insertCalls(ctx: SystemScope, calls: SentCall[], days: number): Sql {
  const tenant = sql`${ctx.tenantId}::uuid`;
  return once`
    with sent as materialized (
      select s.*, s.status is null or s.status >= 400 as is_failure, 1 + cardinality(s.parcels) as size
      from jsonb_to_recordset(${JSON.stringify(calls)}::jsonb) as s (request_id uuid, courier_id uuid, key_hash text, age_ms float8,
        operation_id text, status smallint, code text, refused jsonb, duration_ms integer, credential text, credential_id uuid,
        credential_hint text, is_replayed boolean, parcels text[])
    ), owned as materialized (
      select s.*, c.id as owner_id
      from sent s
      left join couriers k on ${tenantRows(ctx, 'k')} and s.courier_id is null and s.credential = 'api_key' and k.api_key_hash = s.key_hash
      left join service_tokens t on ${tenantRows(ctx, 't')} and s.courier_id is null and s.credential = 'service_token'
        and t.id = s.credential_id and s.key_hash in (t.token_hash, t.previous_hash)
      join couriers c on ${tenantRows(ctx, 'c')} and c.id = coalesce(s.courier_id, k.id, t.courier_id)
    ), counted as materialized (
      select o.*, coalesce(q.used, 0) - o.size
        + sum(o.size) over (partition by o.owner_id order by o.is_failure desc, o.request_id) as used_before
      from owned o
      left join courier_quotas q on ${tenantRows(ctx, 'q')} and q.courier_id = o.owner_id and q.kind = ${raw(`'${KEPT}'`)}
        and q.period_start = ${START_OF_DAY}
    ), judged as materialized (
      select o.*, case
          when not o.is_failure then o.used_before < ${raw(String(ROWS_PER_DAY.success))}
          when o.used_before < ${raw(String(ROWS_PER_DAY.failure))} then true
          else o.used_before < ${raw(String(ROWS_PER_DAY.sample))} and random() < ${raw(String(SAMPLED_SHARE))}
        end as is_kept
      from counted o
    ), spent as (
      insert into courier_quotas as q (tenant_id, courier_id, kind, period_start, used)
      select ${tenant}, amount.owner_id, amount.kind, ${START_OF_DAY}, amount.used
      from (
        select owner_id, ${raw(`'${KEPT}'`)} as kind, sum(size) as used from judged where is_kept group by owner_id
        union all
        select owner_id, ${raw(`'${LEFT_OUT}'`)}, count(*) from judged where not is_kept group by owner_id
      ) as amount
      -- Two processes that lock the same rows take them in the same order.
      order by amount.owner_id, amount.kind
      on conflict (tenant_id, courier_id, kind, period_start) do update set used = q.used + excluded.used
    ), inserted as (
      insert into api_calls (tenant_id, request_id, courier_id, called_at, operation_id, status, code, refused, duration_ms, credential,
        credential_id, credential_hint, is_replayed, expires_at)
      select ${tenant}, request_id, owner_id, now() - age_ms * interval '1 millisecond', operation_id, status, code, refused, duration_ms, credential,
        credential_id, credential_hint, is_replayed, now() + make_interval(days => ${days}::int)
      from judged where is_kept
      on conflict (tenant_id, request_id) do nothing
    )
    insert into api_call_parcels (tenant_id, request_id, parcel_key, courier_id)
    select ${tenant}, j.request_id, named.parcel_key, j.owner_id
    from judged j cross join lateral unnest(j.parcels) as named (parcel_key) where j.is_kept
    on conflict (tenant_id, request_id, parcel_key) do nothing`;
}
