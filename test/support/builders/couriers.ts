import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertEntry } from './audit.js';
import { insertBill } from './bills.js';
import { eventPackage, insertDelivery, insertEvent } from './deliveries.js';
import { png } from '../readers/pictures.js';

/** Ids and codes of the records of one courier, or of no courier. */
export type Belongings = {
  code: string;
  courierId: string;
  userCode: string;
  customerId: string;
  prealertId: string;
  packageId: string;
  /** A manifest with packages of this courier only. */
  manifestId: string;
  warehouseId: string;
  carrierId: string;
  /** A tier of the courier's own table. */
  rateId: number;
  /** The file name of its logo. */
  logoFile: string;
  /** A failed webhook delivery of an event about its package. */
  deliveryId: string;
  eventId: string;
  /** A dispatch requested by the courier. */
  dispatchId: string;
  /** A user of the courier that no test logs in as. */
  userId: string;
  /** An audit entry of its API key. */
  auditId: string;
  /** A published bill with a line and a payment. */
  billId: string;
  draftBillId: string;
};

export type CourierCode = 'IEX' | 'HRB' | 'TWO' | 'TWX';

/**
 * Creates two couriers in each of two tenants, each with its own customer, pre-alert, package and manifest.
 * Every text that a response could contain includes the name of its reader, so that a leak is visible anywhere.
 */
export async function makeCouriers(owner: pg.Pool): Promise<Record<CourierCode, Belongings>> {
  const twx = await clone(owner, 'couriers', DEMO.couriers.TWO, {
    code: 'TWX',
    name: 'Sibling of Two',
    api_key_hash: null,
    api_key_cipher: null,
  });
  const couriers = {
    IEX: await makeBelongings(owner, 'IEX', DEMO.tenants.demo, DEMO.couriers.IEX),
    HRB: await makeBelongings(owner, 'HRB', DEMO.tenants.demo, DEMO.couriers.HRB),
    TWO: await makeBelongings(owner, 'TWO', DEMO.tenants.two, DEMO.couriers.TWO),
    TWX: await makeBelongings(owner, 'TWX', DEMO.tenants.two, twx),
  };
  await insertAccounts(owner);
  await insertCanaries(owner);
  return couriers;
}

/** Returns ids and codes that do not exist. */
export const nobody = (): Belongings => ({
  code: 'NOBODY',
  courierId: randomUUID(),
  userCode: 'NOBODY-1',
  customerId: randomUUID(),
  prealertId: randomUUID(),
  packageId: randomUUID(),
  manifestId: randomUUID(),
  warehouseId: randomUUID(),
  carrierId: randomUUID(),
  rateId: 2_000_000_000,
  logoFile: `${randomBytes(32).toString('hex')}.png`,
  deliveryId: randomUUID(),
  eventId: randomUUID(),
  dispatchId: randomUUID(),
  userId: randomUUID(),
  billId: randomUUID(),
  auditId: randomUUID(),
  draftBillId: randomUUID(),
});

/** Returns invalid ids and user codes. Like unknown ones, they are never found. */
export const malformed = (): Belongings => {
  const names = Object.keys(nobody()).map((key) => [key, 'not-an-id']);
  // All values are strings, also those of numeric ids.
  const texts = Object.fromEntries(names) as unknown as Belongings;
  return { ...texts, code: 'NOBODY', userCode: 'x'.repeat(101) };
};

/** Stores a copy of a row under a new id. Returns the id. */
export async function clone(
  owner: pg.Pool,
  table:
    | 'couriers'
    | 'customers'
    | 'prealerts'
    | 'packages'
    | 'manifests'
    | 'bills'
    | 'warehouses'
    | 'carriers',
  sourceId: string,
  changes: Record<string, unknown>,
): Promise<string> {
  const id = randomUUID();
  // A courier announces each number once.
  const own = table === 'prealerts' ? { id, announced_key: id } : { id };
  const { rowCount } = await owner.query(
    `insert into ${table} select (jsonb_populate_record(source, $2::jsonb)).* from ${table} source where id = $1`,
    [sourceId, JSON.stringify({ ...own, ...changes })],
  );
  if (rowCount !== 1) throw new Error(`There is no row ${sourceId} in ${table}.`);
  return id;
}

let serial = 0;
/** Returns a new number each time, in no carrier's format. */
export const freshNumber = (): string => `ISO${process.pid}N${(serial += 1)}`;

export const freshManifestNumber = (): string =>
  `MAN-20200101-${(serial += 1).toString(36).toUpperCase().padStart(4, '0')}`;

async function makeBelongings(
  owner: pg.Pool,
  code: CourierCode,
  tenantId: string,
  courierId: string,
): Promise<Belongings> {
  const [warehouseId, carrierId, anyCustomerId] = await Promise.all([
    oneId(owner, 'select id from warehouses where tenant_id = $1 and is_primary', tenantId),
    oneId(owner, 'select id from carriers where tenant_id = $1 order by id limit 1', tenantId),
    oneId(owner, 'select id from customers where tenant_id = $1 order by id limit 1', tenantId),
  ]);
  const own = { tenant_id: tenantId, courier_id: courierId, user_code: `${code}-OWN` };
  const customerId = await clone(owner, 'customers', anyCustomerId, { ...own, is_active: true });
  const manifestId = await clone(owner, 'manifests', DEMO.manifests.draft, {
    tenant_id: tenantId,
    warehouse_id: warehouseId,
    manifest_number: freshManifestNumber(),
  });
  const parcel = () => {
    const number = freshNumber();
    return { ...own, tracking_number: number, tracking_key: number };
  };
  await insertSync(owner, tenantId, courierId);
  await insertCheck(owner, tenantId, courierId);
  await insertCall(owner, tenantId, courierId);
  const prealertId = await clone(owner, 'prealerts', DEMO.prealerts.pending.IEX[0] ?? '', parcel());
  const packageId = await clone(owner, 'packages', DEMO.packages.available.IEX[0] ?? '', {
    ...parcel(),
    house_number: freshNumber(),
    warehouse_id: warehouseId,
    carrier_id: carrierId,
    manifest_id: manifestId,
    prealert_id: null,
  });
  await insertHistory(owner, { code, tenantId, courierId, packageId });
  return {
    code,
    courierId,
    userCode: own.user_code,
    customerId,
    prealertId,
    packageId,
    manifestId,
    warehouseId,
    carrierId,
    rateId: await insertTier(owner, own),
    ...(await insertBills(owner, { code, tenantId, courierId })),
    logoFile: await insertLogo(owner, tenantId, courierId),
    userId: await insertUser(owner, tenantId, courierId),
    auditId: await insertEntry(owner, {
      tenantId,
      actorId: courierId,
      entityId: packageId,
      remarks: `canary:${code}`,
    }),
    ...(await insertWebhook(owner, { code, tenantId, courierId, packageId })),
  };
}

/** Plants an event with a delivery that failed once with a reason, and a dispatch. */
async function insertWebhook(
  owner: pg.Pool,
  own: { code: CourierCode; tenantId: string; courierId: string; packageId: string },
): Promise<Pick<Belongings, 'deliveryId' | 'eventId' | 'dispatchId'>> {
  const data = { ...eventPackage(own.packageId), description: `canary:${own.code}` };
  const eventId = await insertEvent(owner, { ...own, type: 'package.updated', data });
  const deliveryId = await insertDelivery(owner, { eventId, status: 'failed', attempts: 1 });
  const dispatchId = randomUUID();
  await owner.query(
    'insert into dispatches (tenant_id, id, courier_id, requested_by, selected, queued) values ($1, $2, $3, $2, 1, 0)',
    [own.tenantId, dispatchId, own.courierId],
  );
  return { deliveryId, eventId, dispatchId };
}

/** Plants a bill of each status with an adjustment. The published one has a payment. */
async function insertBills(
  owner: pg.Pool,
  { code, tenantId, courierId }: { code: CourierCode; tenantId: string; courierId: string },
): Promise<Pick<Belongings, 'billId' | 'draftBillId'>> {
  const own = { tenant_id: tenantId, courier_id: courierId };
  const [draftBillId, billId] = [await newDraftBill(owner, own), await newDraftBill(owner, own)];
  await newBillPayment(owner, billId);
  await owner.query("update bills set status = 'published' where id = $1", [billId]);
  await owner.query(
    `insert into bill_mails (tenant_id, id, bill_id, courier_id, recipient, language, requested_by)
     values ($1, gen_random_uuid(), $2, $3, $4, 'en', gen_random_uuid())`,
    [tenantId, billId, courierId, `${code.toLowerCase()}@bills.example`],
  );
  const paid = { ...own, invoice_number: `paid-${code}`, sequence_number: null };
  await clone(owner, 'bills', DEMO.bills.paid, paid);
  return { billId, draftBillId };
}

/** Plants a draft with one adjustment. Returns its id. */
export async function newDraftBill(
  owner: pg.Pool,
  own: { tenant_id: string; courier_id: string },
): Promise<string> {
  const id = await clone(owner, 'bills', DEMO.bills.draft, {
    ...own,
    ...{ invoice_number: freshNumber(), total_packages: 0, service_type: 'Air', remarks: null },
    ...{ tax_rate: 0, subtotal: 10, tax_amount: 0, total_amount: 10 },
  });
  await newBillLine(owner, id);
  return id;
}

/** Plants the adjustment that a draft of newDraftBill charges for. Returns its id. */
export async function newBillLine(owner: pg.Pool, billId: string): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
     select tenant_id, gen_random_uuid(), id, courier_id,
       (select count(*) + 1 from bill_lines l where l.bill_id = b.id), 'adjustment', 'Storage', subtotal
     from bills b where id = $1 returning id`,
    [billId],
  );
  return rows[0]?.id ?? '';
}

/** Plants a payment of one cent for a bill. Returns its id. */
export async function newBillPayment(owner: pg.Pool, billId: string): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `with paid as (
       update bills set paid_amount = paid_amount + 0.01 where id = $1 returning tenant_id, id, courier_id)
     insert into bill_payments (tenant_id, id, bill_id, courier_id, amount_usd, method, received_on)
     select tenant_id, gen_random_uuid(), id, courier_id, 0.01, 'cash', current_date from paid returning id`,
    [billId],
  );
  return rows[0]?.id ?? '';
}

/**
 * Plants the package's receipt by the tenant's administrator. Package events are append-only, so the canaries are
 * inserted with them.
 */
async function insertHistory(
  owner: pg.Pool,
  own: { code: CourierCode; tenantId: string; courierId: string; packageId: string },
): Promise<void> {
  await owner.query(
    `insert into package_events (tenant_id, id, package_id, courier_id, status, source, location, remarks, actor_user_id)
     select $1, new_id(), $2, $3, 'received', 'intake', $4, $4, u.id from users u where u.tenant_id = $1 and u.role = 'admin'`,
    [own.tenantId, own.packageId, own.courierId, `canary:${own.code}`],
  );
}

/** Plants a tier above all others of the courier. Returns its id. */
async function insertTier(
  owner: pg.Pool,
  { tenant_id: tenantId, courier_id: courierId }: { tenant_id: string; courier_id: string },
): Promise<number> {
  const { rows } = await owner.query<{ id: number }>(
    `insert into rate_tiers (tenant_id, courier_id, start_weight_lb, end_weight_lb, fee_usd)
     values ($1, $2, 40000, 40001, 1) returning id`,
    [tenantId, courierId],
  );
  return rows[0]?.id ?? 0;
}

/** Plants a draft and an account with every kind of movement for each courier. */
async function insertAccounts(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query<{ tenantId: string; courierId: string }>(
    'select tenant_id as "tenantId", id as "courierId" from couriers',
  );
  const payments = [
    { amount: '2.00', receivedOn: '2024-06-02', voidedAt: '2024-06-03T10:00:00Z' },
    { amount: '5.00', receivedOn: '2024-06-04', reference: 'TRF' },
  ];
  for (const courier of rows) {
    const bill = { ...courier, start: '2024-05-01', end: '2024-05-31', amount: '5.00' };
    await insertBill(owner, bill);
    await insertBill(owner, { ...bill, publishedAt: '2024-06-01T10:00:00Z', payments });
  }
}

/** Plants a logo that differs from every other courier's. Returns its file name. */
async function insertLogo(owner: pg.Pool, tenantId: string, courierId: string): Promise<string> {
  const content = png(2, 2, [], [...randomBytes(3)]);
  const hash = createHash('sha256').update(content).digest('hex');
  await owner.query('delete from courier_logos where courier_id = $1', [courierId]);
  await owner.query(
    `insert into courier_logos (tenant_id, courier_id, content_hash, media_type, content)
     values ($1, $2, $3, 'image/png', $4)`,
    [tenantId, courierId, hash, content],
  );
  return `${hash}.png`;
}

/** Plants a user with the password of the demo users. Returns its id. */
export async function insertUser(owner: pg.Pool, tenantId: string, courierId: string): Promise<string> {
  const id = randomUUID();
  await owner.query(
    `insert into users (tenant_id, id, username, full_name, role, courier_id, password_hash)
     select $2, $1, $4, 'Planted User', 'courier', $3, password_hash from users where id = $5`,
    [id, tenantId, courierId, freshNumber().toLowerCase(), DEMO.users.admin],
  );
  return id;
}

/** Plants a check of one of its URLs, which found something. */
async function insertCheck(owner: pg.Pool, tenantId: string, courierId: string): Promise<void> {
  await owner.query(
    `insert into integration_checks (tenant_id, id, courier_id, endpoint, status, findings, requests, finished_at)
     values ($1, new_id(), $2, 'add_package', 'finished', '[]', '[]', now())`,
    [tenantId, courierId],
  );
}

/** Plants a call with its key, which named a parcel. */
async function insertCall(owner: pg.Pool, tenantId: string, courierId: string): Promise<void> {
  await owner.query(
    `with call as (
       insert into api_calls (tenant_id, request_id, courier_id, called_at, operation_id, status, code, duration_ms, credential, expires_at)
       values ($1, new_id(), $2, now(), 'submitPrealert', 409, 'duplicate_tracking_number', 12, 'api_key', now() + interval '1 day')
       returning tenant_id, request_id, courier_id
     )
     insert into api_call_parcels (tenant_id, request_id, parcel_key, courier_id)
     select tenant_id, request_id, 'PLANTED1', courier_id from call`,
    [tenantId, courierId],
  );
}

/** Plants a failed synchronisation of its customers. */
async function insertSync(owner: pg.Pool, tenantId: string, courierId: string): Promise<void> {
  await owner.query(
    `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, error, started_at, finished_at)
     values ($1, new_id(), $2, 'schedule', 'failed', 'No answer.', now(), now())`,
    [tenantId, courierId],
  );
}

async function oneId(owner: pg.Pool, statement: string, tenantId: string): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(statement, [tenantId]);
  if (!rows[0]) throw new Error(`No row for: ${statement}`);
  return rows[0].id;
}

// Columns whose values the service or a constraint interprets.
const MEANINGFUL =
  /^(type|endpoint|format|.*_package_format|origin|outcome|manifest_status|language|code|user_code|username|role|status|previous_status|kind|subject|method|void_reason|started_by|end_reason|slug|host|prefix|airline_prefix|house_color|house_number|manifest_number|tracking_number|tracking_key|announced_key|parcel_key|loading_gate|media_type|action|entity|actor_kind|request_id|credential|credential_hint|.*_(hash|cipher|secret))$/;

// Append-only tables, where a trigger rejects changes, and tallies, where a trigger copies the texts from the rows.
const UNCHANGEABLE = ['audit_entries', 'package_events', 'customer_tallies'];

/**
 * Appends `canary:<reader>` to every free text. The reader is the courier's code, or the tenant's slug without a
 * courier.
 */
async function insertCanaries(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query<{ table_name: string; columns: string[] | null; has_courier: boolean }>(
    `select table_name, array_agg(column_name::text) filter (where data_type = 'text') as columns,
       bool_or(column_name = 'courier_id') as has_courier
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like '\\_%' and table_name <> all($1)
     group by table_name having bool_or(column_name = 'tenant_id')`,
    [UNCHANGEABLE],
  );
  // Triggers protect published bills from changes.
  const guards = (verb: string) =>
    owner.query(
      ['bills', 'bill_lines'].map((table) => `alter table ${table} ${verb} trigger user`).join(';'),
    );
  await guards('disable');
  for (const { table_name: table, columns, has_courier: hasCourier } of rows) {
    const free = (columns ?? []).filter((column) => !MEANINGFUL.test(column));
    if (free.length === 0) continue;
    const courierId = table === 'couriers' ? 'x.id' : hasCourier ? 'x.courier_id' : 'null::uuid';
    const reader = `coalesce((select c.code from couriers c where c.tenant_id = x.tenant_id and c.id = ${courierId}),
      (select t.slug from tenants t where t.id = x.tenant_id)${hasCourier ? " || '-nobody'" : ''})`;
    const changes = free.map(
      (column) => `"${column}" = coalesce("${column}", '') || ' canary:' || ${reader}`,
    );
    await owner.query(`update "${table}" x set ${changes.join(', ')}`);
  }
  await guards('enable');
}

/** Returns the readers named by the canaries in a response. */
export const canariesIn = (body: unknown): string[] => [
  ...new Set(Array.from(textOf(body).matchAll(/canary:([A-Za-z-]+)/g), ([, reader = '']) => reader)),
];

/** A response that is not JSON has its text next to its bytes. JSON would print the bytes as numbers. */
function textOf(body: unknown): string {
  const { text, bytes } = (body ?? {}) as { text?: unknown; bytes?: unknown };
  return Buffer.isBuffer(bytes) && typeof text === 'string' ? text : JSON.stringify(body);
}
