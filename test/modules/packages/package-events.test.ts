import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { moveAndAppend } from '../../../src/modules/packages/events/record-queries.js';
import {
  nextStatuses,
  SUSPENDED,
  type PackageStatus,
} from '../../../src/modules/packages/events/transitions.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { bundle } from '../../support/service/contract.js';
import { eventsOf, setWebhookUrls, pendingDelivery } from '../../support/receivers/outbound.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;
const CALLERS = rounds(60, 200);

const { api, service } = withService({ poolSize: 30 });
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
  await service().tokenOf('warehouse');
}, 60_000);

type Row = Record<string, unknown>;
const select = async <Found = Row>(statement: string, values: unknown[] = []) =>
  (await service().owner.query<Found & Row>(statement, values)).rows;

const record = (body: object, as = 'warehouse') => api.as(as).recordPackageEvent(unchecked(body));
const historyOf = (package_id: string, as = 'manager') => api.as(as).listPackageEvents({ package_id });
const manage = async (body: object) => {
  const reply = await api.as('warehouse').manageManifest(unchecked(body)).ok();
  return reply;
};
async function step(manifest_id: string, ...statuses: string[]): Promise<void> {
  for (const status of statuses) await manage({ action: 'update_meta', manifest_id, status });
}

async function newManifest(packageIds: string[] = []): Promise<string> {
  const { body } = await manage({ action: 'create_manifest' });
  const manifest_id = body['data'].manifest_id;
  if (packageIds.length > 0) await manage({ action: 'add_packages', manifest_id, package_ids: packageIds });
  return manifest_id;
}

let serial = 0;
const freshNumber = () => `EVT${process.pid}N${(serial += 1)}`;

async function receive(fields: object = { user_code: 'IEX-1001' }): Promise<string> {
  const body = { tracking_number: freshNumber(), weight: 1, ...fields };
  const reply = await api.as('warehouse').receivePackage(body).created();
  return reply.data.package_id;
}

/** Inserts packages directly: received an hour ago, now in the given status. */
async function insertRows(
  count: number,
  status: PackageStatus = 'received',
  courierId = IEX,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await service().owner.query(
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, status,
       warehouse_id, received_at)
     select $1, id, $2, id::text, id::text, house_number, 1, $3, $4, now() - interval '1 hour'
     from unnest($5::uuid[], $6::text[]) as new (id, house_number)`,
    [TENANT, courierId, status, DEMO.warehouses.primary, ids, ids.map(newHouseNumber)],
  );
  const at = "now() - interval '1 hour'";
  const line = `insert into package_events
      (tenant_id, id, package_id, courier_id, previous_status, status, source, occurred_at, recorded_at)
    select $1, new_id(), id, $2, $3, $4, $5, ${at}, ${at} from unnest($6::uuid[]) id`;
  await service().owner.query(line, [TENANT, courierId, null, 'received', 'intake', ids]);
  if (status !== 'received')
    await service().owner.query(line, [TENANT, courierId, 'received', status, 'manifest', ids]);
  return ids;
}

const one = async (status?: PackageStatus) => (await insertRows(1, status))[0] ?? '';
const pair = async (status?: PackageStatus) => [await one(status), await one(status)] as const;
const statusOf = async (id: string) => (await select('select status from packages where id = $1', [id]))[0];
const auditOf = (ids: string[]) =>
  select(
    `select entity_id, before, after, remarks, actor_id from audit_entries
     where action = 'package.status_changed' and entity_id = any($1)`,
    [ids],
  );

/** Asserts that each event starts at the previous one's status, in order, and that the last matches the package. */
async function expectChain(id: string): Promise<Row[]> {
  const events = await select<{ previous_status: PackageStatus | null; status: PackageStatus }>(
    `select previous_status, status, source, occurred_at, lag(status) over chain as was,
       coalesce(occurred_at >= lag(occurred_at) over chain, true) as is_in_order
     from package_events where package_id = $1 window chain as (order by place) order by place`,
    [id],
  );
  for (const event of events) {
    expect(event['previous_status']).toBe(event['was']);
    expect(event['is_in_order']).toBe(true);
    const { previous_status: from, status: to, source } = event;
    if (source !== 'recorded' || from === null) continue;
    const isReleased =
      (SUSPENDED as readonly string[]).includes(from) && ['received', 'shipped'].includes(to);
    if (!isReleased) expect(nextStatuses(from)).toContain(to);
  }
  expect(await statusOf(id)).toEqual({ status: events.at(-1)?.status });
  return events;
}

const tally = (replies: Reply[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const key = status === 200 ? `200 ${body['data'].recorded}` : `${status} ${body['code']}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

const errorsOf = ({ status, body }: Reply) => ({
  status,
  code: body['code'],
  errors: (body['errors'] as { field: string; code: string }[]).map(({ field, code }) => `${field} ${code}`),
});

describe('package history', () => {
  test('lists each status change with time, source and remarks, and shows staff who recorded it', async () => {
    const id = await receive();
    await step(await newManifest([id]), 'ready', 'shipped');
    const details = { location: 'Kingston', remarks: 'Customs ask for the invoice.' };
    await record({ package_id: id, status: 'customs_hold', ...details }, 'manager').ok();
    const { data } = await historyOf(id).ok();
    const names = await select<{ id: string; full_name: string }>('select id, full_name from users');
    const nameOf = (user: string) => names.find((each) => each.id === user)?.full_name;
    const [warehouse, manager] = [nameOf(DEMO.users.warehouse), nameOf(DEMO.users.manager)];
    const noDetails = { location: null, remarks: null };
    expect(data).toMatchObject({ package_id: id, status: 'customs_hold' });
    expect(data.events).toMatchObject([
      { previous_status: null, status: 'received', source: 'intake', recorded_by: warehouse, ...noDetails },
      {
        previous_status: 'received',
        status: 'shipped',
        source: 'manifest',
        recorded_by: warehouse,
        ...noDetails,
      },
      {
        previous_status: 'shipped',
        status: 'customs_hold',
        source: 'recorded',
        recorded_by: manager,
        ...details,
      },
    ]);
    const asCourier = await historyOf(id, 'iex').ok();
    expect(asCourier.data.events).toEqual(data.events.map((event) => ({ ...event, recorded_by: null })));
  });

  test('is complete for the courier that the package is linked to later, without the earlier remarks', async () => {
    const id = await receive({});
    await record({ package_id: id, status: 'on_hold', location: 'Shelf 4', remarks: 'IEX or HRB?' }).ok();
    expect(await historyOf(id, 'iex').status()).toBe(404);
    await api.as('admin').updatePackage({ package_id: id, user_code: 'IEX-1001' }).ok();
    await record({ package_id: id, status: 'released', remarks: 'Found the slip.' }).ok();
    const remarks = async (as: string) =>
      ((await historyOf(id, as).ok()).data.events as Row[]).map((event) => event['remarks']);
    expect(await remarks('iex')).toEqual([null, null, 'Found the slip.']);
    expect(await remarks('admin')).toEqual([null, 'IEX or HRB?', 'Found the slip.']);
    expect(await historyOf(id, 'hrb').status()).toBe(403);
  });
});

/** Reads the table of the contract's description: the effect of each event in each status. */
function contractTable(): [from: PackageStatus, kind: string, details: string][] {
  const described = bundle.paths['/api/RecordPackageEvent.php']?.['post'];
  // Every operation of the contract has a description.
  const { description } = described as unknown as { description: string };
  const lines = description.split('\n').filter((line) => line.startsWith('|'));
  const cells = lines.map((line) => line.split('|').slice(1, -1));
  const [heading = [], , ...rows] = cells.map((row) => row.map((cell) => cell.trim().replaceAll('`', '')));
  // The first cell of each row is a status of the contract.
  return rows.flatMap(([from, ...details]) =>
    details.map((cell, index): [PackageStatus, string, string] => [
      from as PackageStatus,
      heading[index + 1] ?? '',
      cell,
    ]),
  );
}

describe('recording an event', () => {
  test('handles all 56 pairs of status and event as the table of the contract says', async () => {
    const table = contractTable();
    expect(table).toHaveLength(56);
    for (const [from, kind, details] of table) {
      const id = await one(from);
      const reply = await record({ package_id: id, status: kind }).answer();
      const became = (await statusOf(id))?.['status'];
      const events = (await expectChain(id)).length;
      const before = from === 'received' ? 1 : 2;
      const recorded = reply.status === 200 ? reply.data.recorded : undefined;
      const shown = [from, kind, details, reply.status, recorded, became, events - before];
      const expected = {
        yes: [200, 1, kind, 1],
        restored: [200, 1, 'received', 1],
        unchanged: [200, 0, from, 0],
        no: [400, undefined, from, 0],
      }[details];
      expect(shown).toEqual([from, kind, details, ...(expected ?? [])]);
      if (details === 'no') expect(reply.code).toBe('package_invalid_transition');
      if (details === 'unchanged') expect(await auditOf([id])).toEqual([]);
    }
  });

  test('rejects received and shipped, which only intake and manifests set', async () => {
    const id = await one('on_hold');
    for (const status of ['received', 'shipped']) {
      const reply = await record({ package_id: id, status }).answer();
      expect(errorsOf(reply)).toEqual({ status: 400, code: 'validation_failed', errors: ['status enum'] });
    }
  });

  test('releases a package that was put on hold twice to its status before both', async () => {
    const id = await one('in_transit');
    for (const status of ['on_hold', 'customs_hold', 'lost', 'released'])
      expect((await record({ package_id: id, status }).ok()).data.recorded).toBe(1);
    expect(await statusOf(id)).toEqual({ status: 'in_transit' });
    await expectChain(id);
  });

  test('writes the row, the audit entry and the webhook event once with the recorded values', async () => {
    const [first, second] = await pair();
    const details = { occurred_at: '2026-11-01 08:00:00', location: 'Kingston', remarks: 'No invoice.' };
    const tooEarly = await record({
      package_ids: [first, second],
      status: 'customs_hold',
      ...details,
    }).answer();
    expect(errorsOf(tooEarly)).toEqual({
      status: 400,
      code: 'validation_failed',
      errors: ['occurred_at minimum', 'occurred_at minimum'],
    });
    const now = { ...details, occurred_at: await moment('5 minutes') };
    const reply = await record({ package_ids: [first, second], status: 'customs_hold', ...now }).ok();
    expect(reply.data).toEqual({
      recorded: 2,
      unchanged: 0,
      events: [first, second].map((package_id) => ({
        event_id: expect.any(String),
        package_id,
        previous_status: 'received',
        status: 'customs_hold',
        occurred_at: now.occurred_at,
      })),
    });
    for (const entry of await auditOf([first, second]))
      expect(entry).toMatchObject({
        before: { status: 'received' },
        after: { status: 'customs_hold', occurred_at: now.occurred_at, location: 'Kingston' },
        remarks: 'No invoice.',
        actor_id: DEMO.users.warehouse,
      });
    const webhookEvents = await eventsOf(service().owner, [first, second]);
    expect(webhookEvents).toHaveLength(2);
    for (const event of webhookEvents) {
      expect(event.type).toBe('package.status_changed');
      expect(event.data).toMatchObject({ previous_status: 'received', status: 'customs_hold', ...now });
      expect(event.deliveries).toEqual(pendingDelivery(IEX, 'update_package'));
    }
  });

  test('creates no webhook event for a package without a courier', async () => {
    const id = await receive({});
    expect((await record({ package_id: id, status: 'lost' }).ok()).data.recorded).toBe(1);
    expect(await eventsOf(service().owner, [id])).toEqual([]);
    expect(await auditOf([id])).toHaveLength(1);
  });

  test('changes all packages or none, and names every package that cannot change', async () => {
    const [free, free2] = await pair('shipped');
    const [delivered, returned] = [await one('delivered'), await one('returned')];
    const package_ids = [free, delivered.toUpperCase(), free2, returned];
    const refused = await record({ package_ids, status: 'lost' }).answer();
    expect(errorsOf(refused)).toEqual({
      status: 400,
      code: 'package_invalid_transition',
      errors: ['package_ids[1] invalid_transition', 'package_ids[3] invalid_transition'],
    });
    const missing = await record({ package_ids: [free, randomUUID(), delivered], status: 'lost' }).answer();
    expect(errorsOf(missing)).toEqual({
      status: 404,
      code: 'package_not_found',
      errors: ['package_ids[1] not_found'],
    });
    for (const id of [free, free2]) expect(await statusOf(id)).toEqual({ status: 'shipped' });
    expect(await auditOf(package_ids)).toEqual([]);
    const twice = await record({ package_ids: [free, free.toUpperCase(), free2], status: 'lost' }).ok();
    expect(twice.data).toMatchObject({ recorded: 2, unchanged: 0 });
    const again = await record({ package_ids: [free, free2], status: 'lost' }).ok();
    expect(again.data).toEqual({ recorded: 0, unchanged: 2, events: [] });
  });

  test('requires either package_id or package_ids, and rejects both', async () => {
    const id = await one();
    const status = 'on_hold';
    const both = await record({ package_id: id, package_ids: [id], status }).answer();
    expect(errorsOf(both).errors).toEqual(['package_ids conflict']);
    expect(errorsOf(await record({ status }).answer()).errors).toEqual(['package_id required']);
    expect(errorsOf(await record({ package_id: randomUUID(), status }).answer()).errors).toEqual([
      'package_id not_found',
    ]);
  });

  /** Returns a past time by the database clock in the contract's format. */
  async function moment(ago: string): Promise<string> {
    const [row] = await select(
      `select to_char((now() - $1::interval) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as at`,
      [ago],
    );
    return String(row?.['at']);
  }

  test('accepts an occurred_at between the last event and now, and defaults to now', async () => {
    const id = await one();
    const at = async (occurred_at: string, status = 'on_hold') =>
      record({ package_id: id, status, occurred_at }).answer();
    const wrong = { '2026-02-30 10:00:00': 'invalid', '2026-02-20 24:00:00': 'invalid' };
    for (const [text, code] of Object.entries(wrong))
      expect(errorsOf(await at(text)).errors).toEqual([`occurred_at ${code}`]);
    expect(errorsOf(await at(await moment('-1 minute'))).errors).toEqual(['occurred_at maximum']);
    expect(errorsOf(await at(await moment('2 hours'))).errors).toEqual(['occurred_at minimum']);
    // The same second as the receipt is accepted and stays in order.
    const [receipt] = await select(
      `select to_char(max(occurred_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as at from package_events where package_id = $1`,
      [id],
    );
    const last = String(receipt?.['at']);
    expect((await at(last)).status).toBe(200);
    expect((await at(await moment('10 minutes'), 'released')).status).toBe(200);
    expect(await record({ package_id: id, status: 'lost' }).status()).toBe(200);
    const events = await expectChain(id);
    expect(Date.now() - Number(events.at(-1)?.['occurred_at'])).toBeLessThan(60_000);
  });
});

describe('events and manifests', () => {
  test('a manifest ships received packages and delivers those on their way, and leaves other recorded statuses', async () => {
    const ids = await insertRows(7);
    const [, onHold, customs, lost, returned, gone, freed] = ids;
    const manifest = await newManifest(ids);
    for (const [id, status] of [
      [onHold, 'on_hold'] as const,
      [lost, 'lost'] as const,
      [returned, 'returned'] as const,
      [gone, 'in_transit'] as const,
      [freed, 'on_hold'] as const,
    ])
      await record({ package_id: id, status }).ok();
    await step(manifest, 'ready', 'shipped');
    await record({ package_id: customs, status: 'customs_hold' }).ok();
    // Its manifest has already left.
    expect((await record({ package_id: freed, status: 'released' }).ok()).data.events[0]?.status).toBe(
      'shipped',
    );
    await step(manifest, 'completed');
    const statuses = await Promise.all(ids.map(async (id) => (await statusOf(id))?.['status']));
    expect(statuses).toEqual([
      'delivered',
      'on_hold',
      'customs_hold',
      'lost',
      'returned',
      'delivered',
      'delivered',
    ]);
    for (const id of ids) await expectChain(id);
  });

  test('a package on hold cannot be added to a manifest until it is released', async () => {
    const id = await one('on_hold');
    const manifest_id = await newManifest();
    const add = () =>
      api.as('warehouse').manageManifest({ action: 'add_packages', manifest_id, package_ids: [id] });
    expect((await add().answer()).code).toBe('packages_not_assignable');
    await record({ package_id: id, status: 'released' }).ok();
    expect((await add().ok()).data).toMatchObject({ added: 1 });
  });

  test('histories stay consistent when a manifest ships while its packages are recorded as lost', async () => {
    const ids = await insertRows(40);
    const manifest = await newManifest(ids);
    await step(manifest, 'ready');
    const [shipped, ...losses] = await Promise.all([
      untilAdmitted(() =>
        api
          .as('warehouse')
          .manageManifest({ action: 'update_meta', manifest_id: manifest, status: 'shipped' })
          .answer(),
      ),
      ...ids.map((package_id) => untilAdmitted(() => record({ package_id, status: 'lost' }).answer())),
    ]);
    expect(shipped.status).toBe(200);
    expect(tally(losses)).toEqual({ '200 1': ids.length });
    for (const id of ids) {
      await expectChain(id);
      expect(await statusOf(id)).toEqual({ status: 'lost' });
    }
  });
});

describe('concurrent events', () => {
  test(`${CALLERS} callers who record seven statuses for one package leave a chain of allowed transitions`, async () => {
    const id = await one('shipped');
    const kinds = ['in_transit', 'on_hold', 'customs_hold', 'released', 'lost', 'on_hold', 'released'];
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        untilAdmitted(() => record({ package_id: id, status: kinds[index % kinds.length] }).answer()),
      ),
    );
    const counts = tally(replies);
    const recorded = counts['200 1'] ?? 0;
    expect(
      Object.keys(counts).filter(
        (key) => !['200 0', '200 1', '400 package_invalid_transition'].includes(key),
      ),
    ).toEqual([]);
    // Some calls changed the package, and not all of them could.
    expect(recorded).toBeGreaterThan(2);
    expect(await expectChain(id)).toHaveLength(2 + recorded);
    expect(await auditOf([id])).toHaveLength(recorded);
    const webhookEvents = await eventsOf(service().owner, [id]);
    expect(webhookEvents.map(({ data }) => data['status'])).toEqual(
      (
        await select('select status from package_events where package_id = $1 order by place offset 2', [id])
      ).map(({ status }) => status),
    );
  });

  test(`${CALLERS} callers who record the same status create one event, one audit entry and one webhook event`, async () => {
    const id = await one();
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, () =>
        untilAdmitted(() => record({ package_id: id, status: 'lost' }).answer()),
      ),
    );
    expect(tally(replies)).toEqual({ '200 1': 1, '200 0': CALLERS - 1 });
    expect(await expectChain(id)).toHaveLength(2);
    expect(await auditOf([id])).toHaveLength(1);
    expect(await eventsOf(service().owner, [id])).toHaveLength(1);
  });

  test('batches of the same 30 packages of two couriers in opposite orders cause no deadlock error', async () => {
    const ids = [...(await insertRows(15)), ...(await insertRows(15, 'received', HRB))];
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const package_ids = index % 2 === 0 ? ids : [...ids].reverse();
        return untilAdmitted(() =>
          record({ package_ids, status: index % 4 < 2 ? 'on_hold' : 'customs_hold' }).answer(),
        );
      }),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    for (const id of ids) await expectChain(id);
  });
});

test('an event for 200 packages looks these up, and does not read all packages', async () => {
  await insertWithoutTriggers(
    service().owner,
    `insert into packages (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), $2, 'IEX-1001', 'MANY-' || n, 'MANY-' || n, 'MANY-' || n, 1, w.id
     from generate_series(1, 20000) n, (select id from warehouses where tenant_id = $1 limit 1) w`,
    [TENANT, IEX],
  );
  await service().owner.query('analyze packages');
  const caller = {
    kind: 'user' as const,
    tenantId: TENANT,
    userId: DEMO.users.warehouse,
    role: 'warehouse' as const,
    courierId: null,
    tokenVersion: 1,
    expiresAt: Math.floor(Date.now() / 1000) + 3_600,
  };
  const ctx = makeContext(service().db, caller, 'a-request');
  const moves = Array.from({ length: 200 }, () => ({
    id: randomUUID(),
    eventId: randomUUID(),
    previous: 'received' as const,
    status: 'on_hold' as const,
    occurredAt: null,
    location: null,
    remarks: null,
  }));
  const statement = moveAndAppend(ctx, moves);
  const [rows] = await ctx.write([sql<Row>`explain ${statement}`]);
  const plan = rows.map((row) => String(row['QUERY PLAN']));
  expect(plan.filter((line) => /Scan.* on packages p /.test(line))).not.toEqual([]);
  expect(plan.filter((line) => line.includes('Seq Scan on packages'))).toEqual([]);
});
