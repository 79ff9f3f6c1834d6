import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';

/** The rows of the demo tenant that one step of the load adds: audit entries and package events `from` + 1 to `to` of `total`. */
export type Step = {
  from: number;
  to: number;
  /** The rows of the last step, which determines the times. */
  total: number;
  /** The first so many events and deliveries of each step are past their retention. */
  expired: number;
};

/** Each package has four package events and four audit entries. */
const PER_PACKAGE = 4;

/** Each package was received, put on a shelf and loaded by scans. */
const SCANS = ['receive', 'locate', 'load'];

/** One event, delivery and pre-alert for ten audit entries, because retention limits the first two. */
const PER_EVENT = 10;

/** The rows that are found by these values, at every size of the tables. */
export const RARE = { rows: 50, userCode: 'RARE', actorKind: 'system' } as const;

/** The tables that grow with each parcel. */
export const TABLES = [
  'prealerts',
  'packages',
  'package_events',
  'audit_entries',
  'audit_links',
  'events',
  'webhook_deliveries',
  'webhook_attempts',
  'scans',
  'parcel_positions',
  'label_jobs',
] as const;

// A UUIDv7 that ends with the row's kind and number. Times span 20 days, so that rows stay within their retention.
const FUNCTIONS = `
  create or replace function pg_temp.capacity_id(kind integer, n bigint, at timestamptz) returns uuid
  language sql immutable return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' || to_hex(kind)
    || lpad(to_hex(n), 14, '0'))::uuid;
  create or replace function pg_temp.capacity_time(n bigint, total bigint) returns timestamptz
  language sql stable return now() - interval '20 days' * (1 - n::double precision / total)`;

/** A digit in the ids of each kind of row. */
const KINDS = { package: 1, history: 2, audit: 3, request: 4, prealert: 5, event: 6, delivery: 7, label: 8 };

/**
 * Adds rows with set-based statements: without triggers and foreign keys, and into tables without secondary indexes, which are
 * built afterwards. Counters are not maintained. The connection must be a superuser's.
 */
export async function loadStep(client: pg.Client, step: Step): Promise<void> {
  // Its reads would count as those of the operation that is measured.
  for (const table of TABLES) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
  await client.query('begin');
  await client.query(
    `set local session_replication_role = replica; set local synchronous_commit = off;
     set local maintenance_work_mem = '512MB'; set local max_parallel_maintenance_workers = 0`,
  );
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select i.indexname as name, i.indexdef as definition from pg_indexes i
     where i.schemaname = 'public' and i.tablename = any ($1)
       and not exists (select from pg_constraint c where c.conname = i.indexname)`,
    [TABLES],
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await client.query(FUNCTIONS);
  for (const statement of statementsOf(step)) await client.query(statement);
  for (const { definition } of indexes) await client.query(definition);
  await client.query('commit');
  await client.query(`vacuum (analyze) ${TABLES.join(', ')}`);
}

function statementsOf({ from, to, total, expired }: Step): string[] {
  const tenant = `'${DEMO.tenants.demo}'::uuid`;
  const courier = `(case n % 2 when 0 then '${DEMO.couriers.IEX}' else '${DEMO.couriers.HRB}' end)::uuid`;
  /** Numbered rows with their times, one for `per` audit entries. */
  const series = (per: number, old = 0) =>
    `(select n, case when n <= ${from / per + old} then now() - interval '100 days' + n * interval '1 second'
        else pg_temp.capacity_time(n * ${per}::bigint, ${total}) end as at
      from generate_series(${from / per + 1}, ${to / per}) n) as numbered`;
  const [all, packages, few] = [series(1), series(PER_PACKAGE), series(PER_EVENT, expired)];
  const id = (kind: keyof typeof KINDS, n = 'n', at = 'at') =>
    `pg_temp.capacity_id(${KINDS[kind]}, ${n}, ${at})`;
  const packageOf = `(n + ${PER_PACKAGE - 1}) / ${PER_PACKAGE}`;
  const ofPackage = id(
    'package',
    packageOf,
    `pg_temp.capacity_time(${packageOf} * ${PER_PACKAGE}::bigint, ${total})`,
  );
  const manifest = `md5('m' || n / 500)::uuid`;
  // Leaves room for the rows that a measurement of the previous step has added.
  const firstSequence = 1_000_000 + from;
  const number = (kind: string) => `upper(substr(md5('${kind}' || n), 1, 16))`;
  const userCode = `case when n <= ${RARE.rows} then '${RARE.userCode}' else 'IEX-' || n % 5000 end`;
  return [
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
       house_number, weight_lb, shipper, status, warehouse_id, received_at, updated_at)
     select ${tenant}, ${id('package')}, ${courier}, ${userCode}, 'First' || n % 1000, 'Last' || n % 20000, ${number('t')},
       ${number('t')}, ${number('h')}, 1 + n % 40 + (n % 8) * 0.125, 'Vendor ' || n % 500, 'delivered',
       (select id from warehouses where tenant_id = ${tenant} and is_primary), at, at
     from ${packages}`,
    `insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, source, occurred_at,
       recorded_at, place)
     select ${tenant}, ${id('history')}, ${ofPackage}, ${courier},
       (array[null, 'received', 'shipped', 'in_transit'])[1 + (n - 1) % 4],
       (array['received', 'shipped', 'in_transit', 'delivered'])[1 + (n - 1) % 4],
       case n % 4 when 1 then 'intake' else 'manifest' end, at, at, 1000000 + n
     from ${all}`,
    `insert into audit_entries (tenant_id, id, at, actor_kind, actor_id, action, entity, entity_id, before, after, request_id)
     select ${tenant}, ${id('audit')}, at, ${actorKind}, ${courier},
       (array['package.received', 'package.updated'])[1 + n % 2], 'package', ${ofPackage},
       case when n % 2 = 1 then '{"status": "received"}'::jsonb end, ${auditedValues}, ${id('request')}::text
     from ${all}`,
    `insert into audit_links (tenant_id, sequence, entry_id, hash)
     select ${tenant}, ${firstSequence} + n, ${id('audit')}, decode(md5('a' || n) || md5('b' || n), 'hex') from ${all}`,
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, status, created_at, updated_at)
     select ${tenant}, ${id('prealert')}, ${courier}, ${userCode}, ${number('p')}, ${number('p')}, 'Vendor ' || n % 500,
       'received', at, at
     from ${few}`,
    `insert into events (tenant_id, id, courier_id, sequence, type, package_id, data, occurred_at)
     select ${tenant}, ${id('event')}, ${courier}, ${firstSequence} + n / 2, 'package.created', ${id('package', 'n', 'at')},
       ${eventData}, at
     from ${few}`,
    `insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, status, attempt_count, next_attempt_at,
       last_http_status, created_at, settled_at)
     select ${tenant}, ${id('delivery')}, ${id('event')}, ${courier}, 'add_package', 'delivered', 1, null, 200, at, at
     from ${few}`,
    `insert into webhook_attempts (tenant_id, delivery_id, number, courier_id, started_at, duration_ms, outcome, http_status,
       response_start)
     select ${tenant}, ${id('delivery')}, 1, ${courier}, at, 35, 'delivered', 200, '{"ok":true}'
     from ${few}`,
    // Devices make random ids.
    `insert into scans (tenant_id, id, station, kind, scanned_at, arrived_at, user_id, scan, parcel_key, details, content_hash,
       manifest_id, outcome)
     select ${tenant}, md5('s' || n || kind)::uuid, 'Dock ' || n % 5, kind, at, at, '${DEMO.users.warehouse}', ${number('t')},
       ${number('t')}, ${scanDetails}, encode(sha256(('s' || n || kind)::bytea), 'hex'),
       case kind when 'load' then ${manifest} end, 'done'
     from ${packages} cross join unnest(array['${SCANS.join("', '")}']) as kind`,
    `insert into parcel_positions (tenant_id, parcel_key, scan, location, manifest_id, loaded_at, station, updated_at)
     select ${tenant}, ${number('t')}, ${number('t')}, 'Shelf ' || n % 200, ${manifest}, at, 'Dock ' || n % 5, at
     from ${packages}`,
    // Within the last six of the 20 days, because retention deletes label jobs after seven.
    `insert into label_jobs (tenant_id, id, print_id, station, package_id, copies, status, claim_id, lease_until, requested_by,
       created_at, expires_at, ended_at)
     select ${tenant}, ${id('label')}, md5('l' || n)::uuid, 'Dock ' || n % 5, ${id('package')}, 1, 'printed',
       md5('c' || n)::uuid, printed, '${DEMO.users.warehouse}', printed, printed + interval '12 hours', printed
     from ${packages}, lateral (select now() - (now() - at) * 0.3 as printed) as job`,
    `insert into event_counters (tenant_id, courier_id, last_sequence)
     select tenant_id, courier_id, max(sequence) from events where sequence is not null group by tenant_id, courier_id
     on conflict (tenant_id, courier_id) do update set last_sequence = excluded.last_sequence`,
  ];
}

const actorKind = `case when n <= ${RARE.rows} then '${RARE.actorKind}' else 'api_key' end`;

/** As large as what the service records of an intake, or of an update. */
const auditedValues = `case when n % 2 = 1 then '{"status": "shipped"}'::jsonb else jsonb_build_object('user_code',
  'IEX-' || n % 5000, 'tracking_number', md5('t' || n), 'house_number', substr(md5('h' || n), 1, 12), 'weight_lb', '3.250',
  'shipper', 'Vendor ' || n % 500, 'first_name', 'First' || n % 1000, 'last_name', 'Last' || n % 20000, 'description', null,
  'package_type', null, 'carrier_id', null) end`;

/** The fields that each kind of scan has of its own. */
const scanDetails = `case kind when 'receive' then jsonb_build_object('weight', 3.25, 'user_code', 'IEX-' || n % 5000)
  when 'locate' then jsonb_build_object('location', 'Shelf ' || n % 200)
  else jsonb_build_object('manifest_number', 'MAN-' || n / 500) end`;

/** As large as the data of package.created. */
const eventData = `jsonb_build_object('package_id', md5('i' || n)::uuid, 'tracking_number', md5('t' || n), 'house_number',
  substr(md5('h' || n), 1, 12), 'user_code', 'IEX-' || n % 5000, 'status', 'received', 'manifest_number', null, 'first_name',
  'First' || n % 1000, 'last_name', 'Last' || n % 20000, 'weight', 3.25, 'length', null, 'width', null, 'height', null,
  'package_type', null, 'shipper', 'Vendor ' || n % 500, 'description', null, 'entry_date_time', '2026-11-23 12:00:00')`;
