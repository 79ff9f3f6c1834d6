import { auditRows } from '../../../platform/audit/audit.js';
import type { Prealert } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { Scope } from '../../../platform/db/scope.js';
import type { OwnerSelection } from '../duplicates/existing.js';
import { keyInColumn } from '../../tracking-numbers/public.js';
import { COLUMNS, type NewPrealert } from './new-prealert.js';
import { initialKey, initialStatus, joinParcel } from '../status/initial-status-queries.js';

/** A pre-alert of a batch. `number` is its line or row. */
export type NumberedPrealert = NewPrealert & { number: number };

/** The pre-alerts of a batch as JSON text, in the format of `sent`. */
export type Packed = { text: string };

/** Packs some pre-alerts as elements of a JSON array. */
export const packElements = (prealerts: NumberedPrealert[]): string =>
  JSON.stringify(
    prealerts.map((prealert) => ({
      number: prealert.number,
      id: prealert.id,
      user_code: prealert.userCode,
      tracking_number: prealert.trackingNumber,
      tracking_key: prealert.trackingKey,
      // Most numbers have one key.
      other_keys: prealert.keys.length > 1 ? prealert.keys.slice(1) : undefined,
      vendor: prealert.vendor,
      description: prealert.description,
      reference: prealert.reference,
    })),
  ).slice(1, -1);

export const joinElements = (parts: string[]): Packed => ({ text: `[${parts.join(',')}]` });

const sent = ({ text }: Packed): Sql =>
  sql`select * from jsonb_to_recordset(${text}::jsonb) as line (number int, id uuid, user_code text, tracking_number text,
    tracking_key text, other_keys text[], vendor text, description text, reference text)`;

/** The pre-alerts of a batch whose user code is that of an active customer of the owner. */
const announced = (owner: OwnerSelection, packed: Packed): Sql =>
  sql`sent as materialized (${sent(packed)}), owner as materialized (${owner}), known as materialized (
      select sent.*, owner.tenant_id, owner.courier_id
      from owner cross join sent
      where exists (select from customers cu where cu.tenant_id = owner.tenant_id and cu.courier_id = owner.courier_id
        and cu.user_code = sent.user_code and cu.is_active)
    )`;

/** A pre-alert of a known customer. */
export type Comparison = { number: number; isDuplicate: boolean; isRepeated: boolean };

/** Selects the pre-alerts of known customers, and whether their number is stored or in an earlier pre-alert of the batch. */
export const comparePrealerts = (owner: OwnerSelection, packed: Packed): Sql<Comparison> =>
  sql`with ${announced(owner, packed)}
    select known.number,
      exists (select from prealerts p where p.tenant_id = known.tenant_id and p.courier_id = known.courier_id
        and (p.announced_key = known.tracking_key or p.tracking_number = known.tracking_number)) as "isDuplicate",
      row_number() over (partition by known.tracking_key order by known.number) > 1 as "isRepeated"
    from known order by known.number`;

/** A pre-alert of a known customer: its new id, or null for a duplicate. */
export type Stored = { number: number; id: Prealert['id'] | null };

/**
 * Inserts the pre-alerts of known customers, with their audit entries, in one statement, so that the table's triggers run
 * once. The first pre-alert of a repeated parcel is inserted. Duplicates are skipped. Inserts in order of the key,
 * because two batches that wait for each other's parcels in opposite order deadlock.
 */
export function insertPrealerts(
  ctx: Scope,
  owner: OwnerSelection,
  packed: Packed,
  remarks: 'upload' | 'feed' | null,
): Sql<Stored> {
  const number = {
    tenantId: sql`fresh.tenant_id`,
    courierId: sql`fresh.courier_id`,
    key: sql`fresh.tracking_key`,
    isOfParcel: (alias: string) => keyInColumn(alias, sql`fresh.keys`),
  };
  const facts = sql`select new_id() as id, 'prealert.created' as action, 'prealert' as entity, created.id as entity_id,
      null::jsonb as before, to_jsonb(created) - 'tenant_id' as after, ${remarks}::text as remarks
    from created`;
  return sql`with ${announced(owner, packed)}, fresh as (
      select distinct on (tracking_key) known.*, array_prepend(tracking_key, other_keys) as keys from known order by tracking_key, number
    ), created as (
      insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, vendor,
        description, reference, status)
      select fresh.tenant_id, id, fresh.courier_id, fresh.user_code, tracking_number, ${initialKey(number)}, fresh.tracking_key,
        vendor, description, reference, ${initialStatus(ctx.caller, number)}
      from fresh ${joinParcel(number)} order by fresh.tracking_key
      on conflict do nothing
      returning tenant_id, ${COLUMNS}
    ), audited as (${auditRows(ctx, facts)})
    select known.number, created.id from known left join created on created.id = known.id order by known.number`;
}

/**
 * Gives the inserted pre-alerts of a batch the status and the key that they would get now, with the locks of their parcels: an intake
 * may have received, moved or disputed one since they were inserted.
 */
export function settleBatch(ctx: Scope, packed: Packed): Sql {
  const number = {
    tenantId: sql`own.tenant_id`,
    courierId: sql`own.courier_id`,
    key: sql`own.announced_key`,
    isOfParcel: (alias: string) => keyInColumn(alias, sql`own.keys`),
    id: sql`own.id`,
  };
  return sql`with sent as materialized (${sent(packed)}), own as materialized (
      select p.tenant_id, p.courier_id, p.id, p.announced_key, array_prepend(sent.tracking_key, sent.other_keys) as keys
      from sent join prealerts p on p.tenant_id = ${ctx.tenantId}::uuid and p.id = sent.id
    ), present as (
      select own.tenant_id, own.id, ${initialKey(number)} as tracking_key, ${initialStatus(ctx.caller, number)} as status
      from own ${joinParcel(number)}
    )
    update prealerts p set tracking_key = present.tracking_key, status = present.status
    from present where p.tenant_id = present.tenant_id and p.id = present.id
      and (p.tracking_key, p.status) is distinct from (present.tracking_key, present.status)`;
}
