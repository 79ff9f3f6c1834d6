import type { UserContext } from '../../platform/context/request-context.js';
import type { Caller, KeyCaller, UserCaller } from '../../platform/identity/callers.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import { containsPattern } from '../../platform/db/patterns.js';
import { empty, join, raw, sql, type Db, type Sql } from '../../platform/db/transaction.js';
import { newId } from '../../platform/values/ids.js';

export type PrealertStatus = 'pending' | 'received' | 'flagged';

export type PrealertRow = {
  id: string;
  courier_id: string;
  courier_name: string;
  user_code: string;
  first_name: string | null;
  last_name: string | null;
  tracking_number: string;
  vendor: string | null;
  description: string | null;
  reference: string | null;
  status: PrealertStatus;
  created_at: Date;
};

export type PrealertStats = { total: number; pending: number; received: number; flagged: number };

export type NewPrealert = {
  id: string;
  userCode: string;
  trackingNumber: string;
  trackingKey: string;
  vendor: string | null;
  description: string | null;
  reference: string | null;
};

const COLUMNS = raw('id, courier_id, user_code, tracking_number, vendor, description, reference, status');

/**
 * Inserts the pre-alert and its audit entry for a customer of the key's courier. Inserts nothing if there is
 * no such customer.
 */
export function insertPrealertWithKey(
  db: Db,
  caller: KeyCaller,
  requestId: string,
  parcel: NewPrealert,
): Sql {
  return sql`with owner as (
      select c.tenant_id, c.id as courier_id
      from couriers c join customers cu on cu.tenant_id = c.tenant_id and cu.courier_id = c.id
      where ${tenantRows(db, caller, 'c')} and c.api_key_hash = ${caller.keyHash} and c.is_active
        and cu.user_code = ${parcel.userCode} and cu.is_active
    ), created as (
      insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, description,
        reference, status)
      select tenant_id, ${parcel.id}::uuid, courier_id, ${parcel.userCode}, ${parcel.trackingNumber}, ${parcel.trackingKey},
        ${parcel.vendor}, ${parcel.description}, ${parcel.reference},
        ${initialStatus(caller, parcel.trackingKey, sql`owner.tenant_id`, sql`owner.courier_id`)}
      from owner
      returning tenant_id, ${COLUMNS}
    ), audited as (
      insert into audit_entries (tenant_id, id, actor_kind, actor_id, action, entity, entity_id, after, request_id)
      select tenant_id, ${newId()}::uuid, 'api_key', courier_id, 'prealert.created', 'prealert', id,
        to_jsonb(created) - 'tenant_id', ${requestId}
      from created
    )
    select id from created`;
}

/**
 * Returns the status of a new pre-alert. It is flagged if the courier has a flagged pre-alert of the number,
 * or a stored flag. It is received if the parcel is already in the warehouse; for a courier only if its
 * customer is known: until then the courier sees the number masked, and a guessed number must behave like any
 * other.
 */
function initialStatus(caller: Caller, trackingKey: string, tenantId: Sql, courierId: Sql): Sql {
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
 * Selects the courier and whether it has this active customer. Returns no row if the courier does not exist.
 */
export function courierWithCustomer(db: Db, caller: UserCaller, courierId: string, userCode: string): Sql {
  return sql`select exists (
      select from customers cu where cu.tenant_id = c.tenant_id and cu.courier_id = c.id
        and cu.user_code = ${userCode} and cu.is_active
    ) as has_customer
    from couriers c where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`;
}

export function insertPrealert(caller: UserCaller, courierId: string, parcel: NewPrealert): Sql {
  const { tenantId } = caller;
  return sql`insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor,
      description, reference, status)
    values (${tenantId}::uuid, ${parcel.id}::uuid, ${courierId}::uuid, ${parcel.userCode}, ${parcel.trackingNumber},
      ${parcel.trackingKey}, ${parcel.vendor}, ${parcel.description}, ${parcel.reference},
      ${initialStatus(caller, parcel.trackingKey, sql`${tenantId}::uuid`, sql`${courierId}::uuid`)})
    returning ${COLUMNS}`;
}

export function prealertForUpdate(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select ${COLUMNS}, tracking_key from prealerts p
    where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid for update`;
}

export type EditableFields = Pick<
  NewPrealert,
  'userCode' | 'trackingNumber' | 'trackingKey' | 'vendor' | 'description'
>;

/** A pending pre-alert gets the status that a new one of its number would get. A flag is not cleared. */
export function updatePrealert(db: Db, caller: UserCaller, id: string, fields: EditableFields): Sql {
  const status = initialStatus(caller, fields.trackingKey, sql`p.tenant_id`, sql`p.courier_id`);
  return sql`update prealerts p set user_code = ${fields.userCode}, tracking_number = ${fields.trackingNumber},
      tracking_key = ${fields.trackingKey}, vendor = ${fields.vendor}, description = ${fields.description},
      status = case when p.status = 'pending' then ${status} else p.status end, updated_at = now()
    where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid
    returning ${COLUMNS}`;
}

export function removePrealert(db: Db, caller: UserCaller, id: string): Sql {
  return sql`delete from prealerts p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`;
}

/** Locks in order of id, like every writer of several rows, to avoid deadlocks. */
export function renameCustomer(
  ctx: UserContext,
  courierId: string,
  from: string,
  to: string,
): Sql<{ id: string }> {
  return sql`with found as (
      select p.tenant_id, p.id from prealerts p
      where ${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid and p.user_code = ${from}
      order by p.id for update
    )
    update prealerts p set user_code = ${to}, updated_at = now()
    from found where p.tenant_id = found.tenant_id and p.id = found.id
    returning p.id`;
}

export function onePrealert(db: Db, caller: UserCaller, id: string): Sql {
  return withNames(
    sql`select * from prealerts p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`,
    empty,
  );
}

// Every sort ends with the id, so that pages neither repeat nor skip a row. Each order has an index.
const SORTS = {
  created_at: ['created_at', 'id'],
  status: ['status', 'created_at', 'id'],
  tracking_number: ['tracking_number', 'id'],
  vendor: ['vendor', 'id'],
  user_code: ['user_code', 'id'],
} satisfies Record<NonNullable<QueryOf<'listPrealerts'>['sort_by']>, string[]>;

export function pageOfPrealerts(db: Db, caller: UserCaller, query: QueryOf<'listPrealerts'>): Sql {
  const columns = SORTS[query.sort_by].map((column) => raw(`p.${column} ${query.sort_dir}`));
  const order = sql`order by ${join(columns)}`;
  const page = sql`select * from prealerts p where ${filtersOf(db, caller, query)} ${order}
    limit ${query.limit}::int offset ${(query.page - 1) * query.limit}::bigint`;
  return withNames(page, order);
}

/** Names are joined after the page is cut, so they are looked up only for its rows. */
function withNames(selection: Sql, order: Sql): Sql {
  return sql`select p.id, p.courier_id, c.name as courier_name, p.user_code, cu.first_name, cu.last_name,
      p.tracking_number, p.vendor, p.description, p.reference, p.status, p.created_at
    from (${selection}) p
    join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join customers cu on cu.tenant_id = p.tenant_id and cu.courier_id = p.courier_id and cu.user_code = p.user_code
    ${order}`;
}

/** Selects counts by status of all matching pre-alerts. Without a search, it sums the maintained counters. */
export function statsOfPrealerts(db: Db, caller: UserCaller, query: QueryOf<'listPrealerts'>): Sql {
  const counts = query.search
    ? sql`select p.status, count(*) as n from prealerts p where ${filtersOf(db, caller, query)} group by p.status`
    : sql`select p.status, sum(p.total) as n from prealert_tallies p where ${scopeOf(db, caller, query)} group by p.status`;
  return sql`select coalesce(sum(n), 0)::int as total,
      coalesce(sum(n) filter (where status = 'pending'), 0)::int as pending,
      coalesce(sum(n) filter (where status = 'received'), 0)::int as received,
      coalesce(sum(n) filter (where status = 'flagged'), 0)::int as flagged
    from (${counts}) counts`;
}

function filtersOf(db: Db, caller: UserCaller, query: QueryOf<'listPrealerts'>): Sql {
  const scope = scopeOf(db, caller, query);
  return query.search
    ? sql`${scope} and p.id = any (array(select search_prealerts(${containsPattern(query.search)})))`
    : scope;
}

function scopeOf(
  db: Db,
  caller: UserCaller,
  { courier_id: courierId, status }: QueryOf<'listPrealerts'>,
): Sql {
  const conditions = [ownRows(db, caller, 'p')];
  // A courier only ever sees its own pre-alerts, whatever courier_id says.
  if (courierId && caller.courierId === null) conditions.push(sql`p.courier_id = ${courierId}::uuid`);
  if (status) conditions.push(sql`p.status = ${status}`);
  return join(conditions, ' and ');
}
