import { once, sql, type LockKind, type Locks, type Sql } from './statements.js';

// Each statement tells the transaction which locks it takes, and the transaction checks their order (transactions/lock-order.ts).

const taking = <Row>(statement: Sql<Row>, ...locks: Locks[]): Sql<Row> => Object.assign(statement, { locks });
const alone = (kind: LockKind, names: readonly string[]): Locks => ({ kind, names, isShared: false });
const shared = (kind: LockKind, names: readonly string[]): Locks => ({ kind, names, isShared: true });

/** Takes the advisory lock of a name until the end of the transaction. */
const lock = (kind: LockKind, name: string): Sql =>
  taking(once`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text`, alone(kind, [name]));

/** The number of parcel locks per tenant, a power of two. The server's table of locks holds, for example, 6,400. */
const PARCEL_LOCKS = sql`128`;

const parcelsOf = (tenantId: string): Sql => sql`hashtext(${`parcels ${tenantId}`})`;
const lockOf = (trackingKey: Sql): Sql => sql`hashtext(${trackingKey}) & (${PARCEL_LOCKS} - 1)`;

/** Sorted, because two transactions that lock in opposite order deadlock. */
const locksOf = (trackingKeys: readonly string[]): Sql =>
  sql`select distinct ${lockOf(sql`key`)} as lock from unnest(${trackingKeys}::text[]) as key order by lock`;

/**
 * Serializes intake, changes of packages and changes of pre-alerts of one parcel until the end of the transaction. Without
 * the lock, an intake and a pre-alert in concurrent transactions would not see each other and would not be matched. Take
 * it before writing either. Parcels share 128 locks per tenant (decision 0038).
 */
export const lockParcel = (tenantId: string, trackingKey: string): Sql =>
  taking(
    once`select pg_advisory_xact_lock(${parcelsOf(tenantId)}, ${lockOf(sql`${trackingKey}::text`)})::text`,
    alone('parcels', [trackingKey]),
  );

/** Locks several parcels like `lockParcel`, or one parcel that has several keys. */
export function lockParcels(tenantId: string, trackingKeys: readonly string[]): Sql {
  const [key, another] = trackingKeys;
  if (key !== undefined && another === undefined) return lockParcel(tenantId, key);
  const statement = once`with locks as materialized (${locksOf(trackingKeys)})
    select pg_advisory_xact_lock(${parcelsOf(tenantId)}, lock)::text from locks`;
  return taking(statement, alone('parcels', trackingKeys));
}

/** Names the rows that a statement locks when it counts events. Their order is part of the statement. */
export const countingEvents = <Row>(statement: Sql<Row>, courierIds: readonly string[]): Sql<Row> =>
  taking(statement, alone('event counters', courierIds));

const correctionsOf = (tenantId: string): Sql => sql`hashtextextended(${`corrections ${tenantId}`}, 0)`;

/** Taken by a change of a parcel's number, after user codes and before parcels. See `stopCorrections`. */
export const joinCorrections = (tenantId: string): Sql =>
  taking(
    once`select pg_advisory_xact_lock_shared(${correctionsOf(tenantId)})::text`,
    shared('corrections', ['']),
  );

/** Waits for the changes of numbers that have begun, and lets no other begin until the end of the transaction. */
export const stopCorrections = (tenantId: string): Sql =>
  taking(once`select pg_advisory_xact_lock(${correctionsOf(tenantId)})::text`, alone('corrections', ['']));

/** What a new pre-alert locks. */
export type Announced = { trackingKey: string; userCode: string };

/**
 * Locks the user code of a new pre-alert (see `keepUserCode`), and its parcel in shared mode. So it waits for the transactions that have
 * called `lockParcel`, but not for other new pre-alerts: the unique constraint refuses a second one of a number.
 */
export const lockAnnouncement = (tenantId: string, { trackingKey, userCode }: Announced): Sql =>
  taking(
    once`select pg_advisory_xact_lock_shared(${userCodesOf(tenantId)}, ${userCodeLockOf(sql`${userCode}::text`)})::text as code,
      pg_advisory_xact_lock_shared(${parcelsOf(tenantId)}, ${lockOf(sql`${trackingKey}::text`)})::text as parcel`,
    shared('user codes', [userCode]),
    shared('parcels', [trackingKey]),
  );

/** @param owner selects the courier, as `courier_id` */
const batchesOf = (tenantId: string, owner: Sql): Sql =>
  sql`select hashtextextended(${`batches ${tenantId} `} || owner.courier_id, 0) as lock from (${owner}) as owner`;

/** Taken by a batch of a courier's pre-alerts before it writes them. It locks their parcels afterwards, so see `awaitBatches`. */
export const joinBatches = (tenantId: string, owner: Sql): Sql =>
  taking(
    once`select pg_advisory_xact_lock_shared(batches.lock)::text from (${batchesOf(tenantId, owner)}) as batches`,
    shared('batches', ['']),
  );

/**
 * Waits for the courier's batches that have begun. Taken by whoever locks a parcel alone and then gives its number to a pre-alert: a batch
 * that has written the number waits for that parcel, and the two would deadlock (decision 0112).
 */
export const awaitBatches = (tenantId: string, owner: Sql): Sql =>
  taking(
    once`select pg_advisory_xact_lock(batches.lock)::text from (${batchesOf(tenantId, owner)}) as batches`,
    alone('batches', ['']),
  );

/** The parcels of new pre-alerts that are written already. Take it after `keepUserCodes`, and settle the pre-alerts afterwards. */
export const lockAnnouncedParcels = (tenantId: string, trackingKeys: readonly string[]): Sql =>
  taking(
    once`with locks as materialized (${locksOf(trackingKeys)})
      select pg_advisory_xact_lock_shared(${parcelsOf(tenantId)}, lock)::text from locks`,
    shared('parcels', trackingKeys),
  );

/** The locks that the transaction has got, for `hasBoth`. */
const GOT = sql`'crossdock.announced'`;

/**
 * Takes the locks of `lockAnnouncement` for several pre-alerts that are written together. Unless it `waits`, it leaves out the user
 * codes and parcels that another transaction has locked. `hasBoth` tells the statements that follow which it has got.
 */
export function lockTogether(tenantId: string, announced: readonly Announced[], waits: boolean): Sql {
  const [one, another] = announced;
  if (one && !another) return lockAlone(tenantId, one, waits);
  const userCodes = announced.map(({ userCode }) => userCode);
  const trackingKeys = announced.map(({ trackingKey }) => trackingKey);
  const statement = once`with locks as materialized (
      select 1 as step, ${userCodesOf(tenantId)} as kind, ${userCodeLockOf(sql`code`)} as lock
        from unnest(${userCodes}::text[]) as code
      union
      select 2, ${parcelsOf(tenantId)}, ${lockOf(sql`key`)} from unnest(${trackingKeys}::text[]) as key
      order by step, lock
    ), taken as materialized (
      select step, lock, case when ${waits}::boolean then pg_advisory_xact_lock_shared(kind, lock)::text is not null
        else pg_try_advisory_xact_lock_shared(kind, lock) end as got
      from locks)
    select set_config(${GOT}, names, true) from (
      select coalesce(string_agg(step || ':' || lock, ',') filter (where got), '') as names from taken) as all_taken`;
  return taking(statement, shared('user codes', userCodes), shared('parcels', trackingKeys));
}

/** Most pre-alerts are alone. This costs as much as `lockAnnouncement`, and less than the statement for several. */
function lockAlone(tenantId: string, { trackingKey, userCode }: Announced, waits: boolean): Sql {
  /** Takes the lock. Its text is that of `hasBoth`, or empty. */
  const take = (step: Sql, kind: Sql, lock: Sql) =>
    sql`case when ${
      waits
        ? sql`pg_advisory_xact_lock_shared(${kind}, ${lock})::text is not null`
        : sql`pg_try_advisory_xact_lock_shared(${kind}, ${lock})`
    } then ${step} || (${lock}) else '' end`;
  return taking(
    once`select set_config(${GOT}, code || ',' || parcel, true) from (
      select ${take(sql`'1:'`, userCodesOf(tenantId), userCodeLockOf(sql`${userCode}::text`))} as code,
        ${take(sql`'2:'`, parcelsOf(tenantId), lockOf(sql`${trackingKey}::text`))} as parcel) as taken`,
    shared('user codes', [userCode]),
    shared('parcels', [trackingKey]),
  );
}

/** Whether `lockTogether` has got the locks of a user code and a parcel. */
export const hasBoth = (userCode: Sql, trackingKey: Sql): Sql =>
  sql`array['1:' || (${userCodeLockOf(userCode)}), '2:' || (${lockOf(trackingKey)})]
    <@ string_to_array(current_setting(${GOT}), ',')`;

/** The number of locks of user codes per tenant, a power of two. Fewer than of parcels, because renames are rare. */
const USER_CODE_LOCKS = sql`32`;

const userCodesOf = (tenantId: string): Sql => sql`hashtext(${`user codes ${tenantId}`})`;
const userCodeLockOf = (userCode: Sql): Sql => sql`hashtext(${userCode}) & (${USER_CODE_LOCKS} - 1)`;

/**
 * Keeps customers from losing their user code until the end of the transaction. Take it before the customer of a code is looked up,
 * if the code is stored with a pre-alert or decides about one. Take it before the parcels: with two orders, transactions that wait
 * for a rename deadlock. See decision 0086.
 */
export const keepUserCode = (tenantId: string, userCode: string): Sql =>
  taking(
    once`select pg_advisory_xact_lock_shared(${userCodesOf(tenantId)}, ${userCodeLockOf(sql`${userCode}::text`)})::text`,
    shared('user codes', [userCode]),
  );

/** The same for several codes. */
export const keepUserCodes = (tenantId: string, userCodes: readonly string[]): Sql =>
  taking(
    once`with locks as materialized (
      select distinct ${userCodeLockOf(sql`code`)} as lock from unnest(${userCodes}::text[]) as code order by lock)
    select pg_advisory_xact_lock_shared(${userCodesOf(tenantId)}, lock)::text from locks`,
    shared('user codes', userCodes),
  );

/** Waits for the transactions that keep a user code, before its customer is renamed or deleted. Later ones find the code unused. */
export const lockUserCode = (tenantId: string, userCode: string): Sql =>
  taking(
    once`select pg_advisory_xact_lock(${userCodesOf(tenantId)}, ${userCodeLockOf(sql`${userCode}::text`)})::text`,
    alone('user codes', [userCode]),
  );

/** Serializes changes of a tenant's rate tables. One lock for all of them, because a copy reads one table and writes another. */
export const lockRates = (tenantId: string): Sql => lock('rates', `rates ${tenantId}`);

/** Serializes the removal of administrators, so that two administrators who remove each other leave one. */
export const lockAdministrators = (tenantId: string): Sql =>
  lock('administrators', `administrators ${tenantId}`);

/** Serializes changes of the tenant's security settings. An advisory lock, because the row may not exist yet. */
export const lockSecuritySettings = (tenantId: string): Sql =>
  lock('security settings', `security settings ${tenantId}`);

/** Serializes changes of the tenant's time zone and currency. An advisory lock, because the row may not exist yet. */
export const lockTenantSettings = (tenantId: string): Sql =>
  lock('tenant settings', `tenant settings ${tenantId}`);

/** Serializes changes of the tenant's payment terms. An advisory lock, because the row may not exist yet. */
export const lockPaymentTerms = (tenantId: string): Sql => lock('payment terms', `payment terms ${tenantId}`);

/**
 * Serializes the creation and the naming of an owner's service tokens, which are counted per owner.
 *
 * @param courierId null for those of the staff
 */
export const lockServiceTokens = (tenantId: string, courierId: string | null): Sql =>
  lock('service tokens', `service tokens ${tenantId} ${courierId ?? 'staff'}`);

/** Serializes adding and removing warehouses and changing the primary one. */
export const lockWarehouses = (tenantId: string): Sql => lock('warehouses', `warehouses ${tenantId}`);

/** Serializes the mails with reset tokens of a tenant, because they count those of the last 24 hours. */
export const lockResetMails = (tenantId: string): Sql => lock('reset mails', `reset mails ${tenantId}`);

/** Serializes uploads for a courier, because two concurrent uploads would do the same work twice. */
export const lockUploads = (tenantId: string, courierId: string): Sql =>
  lock('uploads', `upload ${tenantId} ${courierId}`);

/** Serializes requests with the same print_id, so that a repetition finds the jobs of the first one. Take it before the station's. */
export const lockPrint = (tenantId: string, printId: string): Sql =>
  lock('print', `print ${tenantId} ${printId}`);

/** Serializes requests for labels at a station, because they count the waiting ones. */
export const lockLabelStation = (tenantId: string, station: string): Sql =>
  lock('label station', `label station ${tenantId} ${station}`);

/** Serializes appending to the tenant's audit chain. */
export const lockAuditChain = (tenantId: string): Sql => lock('audit chain', `audit chain ${tenantId}`);
