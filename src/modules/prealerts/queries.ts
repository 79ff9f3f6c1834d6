import type { components } from '../../../generated/contract.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import type { ColumnsOf, Prealert } from '../../platform/db/models/types.js';
import type { Scope } from '../../platform/db/scope.js';
import { empty, once, raw, sql, type Sql } from '../../platform/db/statements.js';
import type { Caller, KeyCaller } from '../../platform/identity/callers.js';
import { newId, newIds } from '../../platform/values/ids.js';

export type PrealertStatus = components['schemas']['PrealertStatus'];

export type PrealertFields = Pick<
  Prealert,
  'userCode' | 'trackingNumber' | 'trackingKey' | 'vendor' | 'description'
>;

export type NewPrealert = PrealertFields & Pick<Prealert, 'id' | 'reference'>;

/** The columns that the audit trail records. */
export type PrealertColumns = ColumnsOf<
  Pick<Prealert, 'id' | 'courierId' | 'userCode' | 'trackingNumber' | 'vendor' | 'description' | 'reference'>
> & { status: PrealertStatus };

export const COLUMNS = raw(
  'id, courier_id, user_code, tracking_number, vendor, description, reference, status',
);

/** A pre-alert that a request with an API key submits. */
export type Submission = NewPrealert & { requestId: string };

/** What became of a submission of a known customer. `isCreated` is false if the courier has announced the number already. */
export type SubmissionOutcome = { position: number; isCreated: boolean };

/** The customer of the key's courier, which the admission has set as the transaction's courier. */
const customerOfKey = (key: Scope<KeyCaller>, userCode: Sql): Sql =>
  sql`${tenantRows(key, 'cu')} and cu.courier_id = app_courier() and cu.user_code = ${userCode} and cu.is_active`;

/** Inserts pre-alerts and their audit entries for customers of the key's courier. */
export const insertPrealertsWithKey = (
  key: Scope<KeyCaller>,
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
function insertOne(key: Scope<KeyCaller>, submission: Submission): Sql<SubmissionOutcome> {
  return once`with fresh as materialized (
      select cu.tenant_id, ${submission.id}::uuid as id, cu.courier_id, ${submission.userCode}::text as user_code,
        ${submission.trackingNumber}::text as tracking_number, ${submission.trackingKey}::text as tracking_key,
        ${submission.vendor}::text as vendor, ${submission.description}::text as description,
        ${submission.reference}::text as reference,
        ${initialStatus(key.caller, sql`${submission.trackingKey}`, sql`cu.tenant_id`, sql`cu.courier_id`)} as status
      from customers cu where ${customerOfKey(key, sql`${submission.userCode}`)}
    ), created as (
      insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, description,
        reference, status)
      select * from fresh
    ), audited as (
      insert into audit_entries (tenant_id, id, actor_kind, actor_id, action, entity, entity_id, after, request_id)
      select tenant_id, ${newId()}::uuid, 'api_key', courier_id, 'prealert.created', 'prealert', id,
        to_jsonb(fresh) - '{tenant_id,tracking_key}'::text[], ${submission.requestId}
      from fresh
    )
    select 0 as position, true as "isCreated" from fresh`;
}

/**
 * Of pre-alerts with the same number, the first is inserted. The parameters are one array per column, so that the text does not
 * depend on the number of pre-alerts. Inserts in order of tracking number, because two transactions that wait for each
 * other's numbers in opposite order deadlock.
 */
function insertSeveral(key: Scope<KeyCaller>, submissions: readonly Submission[]): Sql<SubmissionOutcome> {
  const column = (name: keyof Submission) => submissions.map((submission) => submission[name]);
  return once`with known as materialized (
      select cu.tenant_id, cu.courier_id, sent.*
      from unnest(${column('id')}::uuid[], ${column('userCode')}::text[], ${column('trackingNumber')}::text[],
        ${column('trackingKey')}::text[], ${column('vendor')}::text[], ${column('description')}::text[],
        ${column('reference')}::text[], ${column('requestId')}::text[], ${newIds(submissions.length)}::uuid[])
        with ordinality as sent (id, user_code, tracking_number, tracking_key, vendor, description, reference,
          request_id, audit_id, ordinal)
      join customers cu on ${customerOfKey(key, sql`sent.user_code`)}
    ), fresh as materialized (
      select distinct on (tracking_number) known.*,
        ${initialStatus(key.caller, sql`known.tracking_key`, sql`known.tenant_id`, sql`known.courier_id`)} as status
      from known order by tracking_number, ordinal
    ), created as (
      insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, description,
        reference, status)
      select tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, description, reference, status
      from fresh order by tracking_number
      on conflict (tenant_id, courier_id, tracking_number) do nothing
      returning id
    ), audited as (
      insert into audit_entries (tenant_id, id, actor_kind, actor_id, action, entity, entity_id, after, request_id)
      select tenant_id, audit_id, 'api_key', courier_id, 'prealert.created', 'prealert', id,
        to_jsonb(fresh) - '{tenant_id,tracking_key,request_id,audit_id,ordinal}'::text[], request_id
      from fresh where id in (select id from created)
    )
    select known.ordinal::integer - 1 as position, created.id is not null as "isCreated"
    from known left join created using (id)`;
}

/**
 * Returns the status of a new pre-alert. It is flagged if the courier has a flagged pre-alert of the number,
 * or a stored flag. It is received if the parcel is already in the warehouse; for a courier only if its
 * customer is known: until then the courier sees the number masked, and a guessed number must behave like any
 * other.
 */
export function initialStatus(caller: Caller, trackingKey: Sql, tenantId: Sql, courierId: Sql): Sql {
  const isStaff = caller.kind === 'user' && caller.courierId === null;
  const isShown = isStaff ? empty : sql`and p.user_code is not null`;
  return sql`case
    when exists (select from prealert_flags f where f.tenant_id = ${tenantId} and f.courier_id = ${courierId}
      and f.tracking_key = ${trackingKey})
      or exists (select from prealerts other where other.tenant_id = ${tenantId} and other.courier_id = ${courierId}
      and other.tracking_key = ${trackingKey} and other.status = 'flagged') then 'flagged'
    when exists (select from packages p where p.tenant_id = ${tenantId} and p.tracking_key = ${trackingKey}
      and p.courier_id = ${courierId} ${isShown}) then 'received'
    else 'pending' end`;
}

/**
 * Selects whether the courier has this active customer. Returns no row if the courier does not exist.
 */
export function courierWithCustomer(
  ctx: UserContext,
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
  { caller, tenantId }: UserContext,
  courierId: string,
  prealert: NewPrealert,
): Sql<PrealertColumns> {
  return once`insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor,
      description, reference, status)
    values (${tenantId}::uuid, ${prealert.id}::uuid, ${courierId}::uuid, ${prealert.userCode},
      ${prealert.trackingNumber}, ${prealert.trackingKey}, ${prealert.vendor}, ${prealert.description},
      ${prealert.reference},
      ${initialStatus(caller, sql`${prealert.trackingKey}`, sql`${tenantId}::uuid`, sql`${courierId}::uuid`)})
    returning ${COLUMNS}`;
}

/** Selects the key of the parcel that a change of the pre-alert must lock. It locks nothing. */
export function findTrackingKey(ctx: UserContext, id: string): Sql<Pick<Prealert, 'trackingKey'>> {
  return once`select p.tracking_key as "trackingKey" from prealerts p
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
}

/** Selects and locks the pre-alert. */
export function lockedPrealert(
  ctx: UserContext,
  id: string,
): Sql<PrealertColumns & Pick<Prealert, 'trackingKey'>> {
  return once`select ${COLUMNS}, tracking_key as "trackingKey" from prealerts p
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid for update`;
}

/** A pending pre-alert gets the status that a new one of its number would get. A flag is not cleared. */
export function updatePrealert(ctx: UserContext, id: string, fields: PrealertFields): Sql<PrealertColumns> {
  const status = initialStatus(ctx.caller, sql`${fields.trackingKey}`, sql`p.tenant_id`, sql`p.courier_id`);
  return once`update prealerts p set user_code = ${fields.userCode}, tracking_number = ${fields.trackingNumber},
      tracking_key = ${fields.trackingKey}, vendor = ${fields.vendor}, description = ${fields.description},
      status = case when p.status = 'pending' then ${status} else p.status end, updated_at = now()
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid
    returning ${COLUMNS}`;
}

export function removePrealert(ctx: UserContext, id: string): Sql {
  return once`delete from prealerts p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
}

/** A change of a customer's user code. */
export type UserCodeChange = { courierId: string; from: string; to: string };

/** Locks in order of id, like every writer of several rows, to avoid deadlocks. */
export function changeUserCode(
  ctx: UserContext,
  { courierId, from, to }: UserCodeChange,
): Sql<Pick<Prealert, 'id'>> {
  return sql`with found as (
      select p.tenant_id, p.id from prealerts p
      where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from}
      order by p.id for update
    )
    update prealerts p set user_code = ${to}, updated_at = now()
    from found where p.tenant_id = found.tenant_id and p.id = found.id
    returning p.id`;
}
