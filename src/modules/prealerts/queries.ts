import type { components } from '../../../generated/contract.js';
import { actorId } from '../../platform/audit/audit.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import { hasBoth } from '../../platform/db/locks.js';
import type { Scope, UserScope } from '../../platform/db/scope.js';
import type { ColumnsOf, Prealert } from '../../platform/db/models/types.js';
import { once, sql, type Sql } from '../../platform/db/statements.js';
import type { SubmittingCaller } from '../../platform/identity/callers.js';
import { newId, newIds } from '../../platform/values/ids.js';
import { keyIn, keyInColumn, type StoredNumber } from '../tracking-numbers/public.js';
import { initialKey, initialStatus, joinParcel, type Announced } from './status/initial-status-queries.js';
import { columns } from '../../platform/db/columns.js';
import { COLUMNS, type NewPrealert, type PrealertFields } from './batches/new-prealert.js';

const NUMBER = columns('Prealert', 'p', ['trackingKey', 'trackingNumber']);

export type PrealertStatus = components['schemas']['PrealertStatus'];

/** The columns that the audit trail records. */
export type PrealertColumns = ColumnsOf<
  Pick<Prealert, 'id' | 'courierId' | 'userCode' | 'trackingNumber' | 'vendor' | 'description' | 'reference'>
> & { status: PrealertStatus };

/** The number of one pre-alert. */
const announcedNumber = (
  { trackingKey, keys }: Pick<PrealertFields, 'trackingKey' | 'keys'>,
  owner: Pick<Announced, 'tenantId' | 'courierId'>,
): Announced => ({ ...owner, key: sql`${trackingKey}`, isOfParcel: (alias) => keyIn(alias, keys) });

/** A pre-alert that a request with an API key submits. */
export type Submission = NewPrealert & { requestId: string };

/** What became of a submission of a known customer. `isCreated` is false if the courier has announced the number already. */
export type SubmissionOutcome = { position: number; isCreated: boolean; isBlocked: boolean };

/** The customer of the key's courier, which the admission has set as the transaction's courier. */
const customerOfKey = (key: Scope<SubmittingCaller>, userCode: Sql): Sql =>
  sql`${tenantRows(key, 'cu')} and cu.courier_id = app_courier() and cu.user_code = ${userCode} and cu.is_active`;

/** Inserts pre-alerts and their audit entries for customers of the key's courier. */
export const insertPrealertsWithKey = (
  key: Scope<SubmittingCaller>,
  submissions: readonly Submission[],
): Sql<SubmissionOutcome> => {
  const [first, second] = submissions;
  return first && !second ? insertOne(key, first) : insertSeveral(key, submissions);
};

/**
 * Fails if the courier has announced the number already. Costs a sixth less than `insertSeveral` with one pre-alert.
 *
 * Both inserts read `fresh`, because `returning` would also check the policies for reading (decision 0045).
 */
function insertOne(key: Scope<SubmittingCaller>, submission: Submission): Sql<SubmissionOutcome> {
  const announced = announcedNumber(submission, {
    tenantId: sql`cu.tenant_id`,
    courierId: sql`cu.courier_id`,
  });
  const hasOwn = hasBoth(sql`${submission.userCode}::text`, sql`${submission.trackingKey}::text`);
  return once`with fresh as materialized (
      select cu.tenant_id, ${submission.id}::uuid as id, cu.courier_id, ${submission.userCode}::text as user_code,
        ${submission.trackingNumber}::text as tracking_number, ${initialKey(announced)} as tracking_key,
        ${submission.trackingKey}::text as announced_key, ${submission.vendor}::text as vendor, ${submission.description}::text as description,
        ${submission.reference}::text as reference,
        ${initialStatus(key.caller, announced)} as status
      from customers cu ${joinParcel(announced)}
      where ${customerOfKey(key, sql`${submission.userCode}`)} and ${hasOwn}
    ), created as (
      insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, vendor,
        description, reference, status)
      select * from fresh
    ), audited as (
      insert into audit_entries (tenant_id, id, actor_kind, actor_id, action, entity, entity_id, after, request_id)
      select tenant_id, ${newId()}::uuid, 'api_key', ${actorId(key.caller)}, 'prealert.created', 'prealert', id,
        to_jsonb(fresh) - '{tenant_id,tracking_key,announced_key}'::text[], ${submission.requestId}
      from fresh
    )
    select 0 as position, true as "isCreated", false as "isBlocked" from fresh
    union all select 0, false, true where not ${hasOwn}`;
}

/**
 * Of pre-alerts of the same parcel, the first is inserted. The parameters are one array per column, so that the text does not
 * depend on the number of pre-alerts. Inserts in order of the key, because two transactions that wait for each
 * other's parcels in opposite order deadlock.
 */
function insertSeveral(
  key: Scope<SubmittingCaller>,
  submissions: readonly Submission[],
): Sql<SubmissionOutcome> {
  const column = (name: Exclude<keyof Submission, 'keys'>) =>
    submissions.map((submission) => submission[name]);
  const announced = {
    tenantId: sql`known.tenant_id`,
    courierId: sql`known.courier_id`,
    key: sql`known.own_key`,
    isOfParcel: (alias: string) => keyInColumn(alias, sql`known.keys`),
  };
  return once`with sent as materialized (
      select * from unnest(${column('id')}::uuid[], ${column('userCode')}::text[], ${column('trackingNumber')}::text[],
        ${column('trackingKey')}::text[], ${column('vendor')}::text[], ${column('description')}::text[],
        ${column('reference')}::text[], ${column('requestId')}::text[], ${newIds(submissions.length)}::uuid[],
        ${submissions.map(({ keys }) => JSON.stringify(keys))}::text[])
        with ordinality as sent (id, user_code, tracking_number, own_key, vendor, description, reference,
          request_id, audit_id, key_list, ordinal)
    ), known as materialized (
      select cu.tenant_id, cu.courier_id, sent.*, array(select jsonb_array_elements_text(key_list::jsonb)) as keys
      from sent join customers cu on ${customerOfKey(key, sql`sent.user_code`)} and ${hasBoth(sql`sent.user_code`, sql`sent.own_key`)}
    ), fresh as materialized (
      select distinct on (own_key) known.*, ${initialKey(announced)} as tracking_key,
        ${initialStatus(key.caller, announced)} as status
      from known ${joinParcel(announced)} order by own_key, ordinal
    ), created as (
      insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, vendor,
        description, reference, status)
      select tenant_id, id, courier_id, user_code, tracking_number, tracking_key, own_key, vendor, description, reference, status
      from fresh order by own_key
      on conflict do nothing
      returning id
    ), audited as (
      insert into audit_entries (tenant_id, id, actor_kind, actor_id, action, entity, entity_id, after, request_id)
      select tenant_id, audit_id, 'api_key', ${actorId(key.caller)}, 'prealert.created', 'prealert', id,
        to_jsonb(fresh) - '{tenant_id,tracking_key,own_key,key_list,keys,request_id,audit_id,ordinal}'::text[], request_id
      from fresh where id in (select id from created)
    )
    select known.ordinal::integer - 1 as position, created.id is not null as "isCreated", false as "isBlocked"
    from known left join created using (id)
    union all select sent.ordinal::integer - 1, false, true from sent where not ${hasBoth(sql`sent.user_code`, sql`sent.own_key`)}`;
}

/**
 * Selects whether the courier has this active customer. Returns no row if the courier does not exist.
 */
export function courierWithCustomer(
  ctx: UserScope,
  courierId: string,
  userCode: string,
): Sql<{ hasCustomer: boolean }> {
  return once`select exists (
      select from customers cu where cu.tenant_id = c.tenant_id and cu.courier_id = c.id
        and cu.user_code = ${userCode} and cu.is_active
    ) as "hasCustomer"
    from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

export function insertPrealert(
  { caller, tenantId }: UserScope,
  courierId: string,
  prealert: NewPrealert,
): Sql<PrealertColumns> {
  const announced = announcedNumber(prealert, {
    tenantId: sql`owner.tenant_id`,
    courierId: sql`owner.courier_id`,
  });
  return once`insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, vendor,
      description, reference, status)
    select owner.tenant_id, ${prealert.id}::uuid, owner.courier_id, ${prealert.userCode}, ${prealert.trackingNumber},
      ${initialKey(announced)}, ${prealert.trackingKey}, ${prealert.vendor}, ${prealert.description}, ${prealert.reference},
      ${initialStatus(caller, announced)}
    from (select ${tenantId}::uuid as tenant_id, ${courierId}::uuid as courier_id) as owner ${joinParcel(announced)}
    returning ${COLUMNS}`;
}

/** Selects the number of the parcel that a change of the pre-alert must lock. It locks nothing. */
export function findNumber(ctx: UserScope, id: string): Sql<StoredNumber> {
  return once`select ${NUMBER} from prealerts p
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
}

/** Selects and locks the pre-alert. */
export function lockedPrealert(
  ctx: UserScope,
  id: string,
): Sql<PrealertColumns & Pick<Prealert, 'trackingKey' | 'announcedKey'>> {
  return once`select ${COLUMNS}, tracking_key as "trackingKey", announced_key as "announcedKey" from prealerts p
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid for update`;
}

/**
 * A pending pre-alert gets the status and the key that a new one of its number would get. A received one keeps its package, unless its
 * number is another one, whose parcel may not be received yet. A flag is not cleared.
 */
export function updatePrealert(
  ctx: UserScope,
  id: string,
  fields: PrealertFields,
  isMoved: boolean,
): Sql<PrealertColumns> {
  const announced = announcedNumber(fields, { tenantId: sql`old.tenant_id`, courierId: sql`old.courier_id` });
  return once`update prealerts p set user_code = ${fields.userCode}, tracking_number = ${fields.trackingNumber},
      tracking_key = case when p.status = 'pending' or ${isMoved}::boolean then initial.new_key else p.tracking_key end,
      announced_key = ${fields.trackingKey}, vendor = ${fields.vendor}, description = ${fields.description},
      status = case when p.status = 'pending' or (p.status = 'received' and ${isMoved}::boolean) then initial.new_status else p.status end,
      closed_at = case when ${isMoved}::boolean then null else p.closed_at end, updated_at = now()
    from (
      select ${initialKey(announced)} as new_key, ${initialStatus(ctx.caller, announced)} as new_status
      from prealerts old ${joinParcel(announced)}
      where ${ownRows(ctx, 'old')} and old.id = ${id}::uuid
    ) as initial
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid
    returning ${COLUMNS}`;
}

export function removePrealert(ctx: UserScope, id: string): Sql {
  return once`delete from prealerts p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
}
