import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { moveAndAppend } from '../../../../src/modules/packages/events/record-queries.js';
import { type PackageStatus } from '../../../../src/modules/packages/events/transitions.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { sql } from '../../../../src/platform/db/statements.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import { bundle } from '../../../support/service/contract.js';
import { eventsOf, setWebhookUrls, pendingDelivery } from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeRecordedEvents, errorsOf, TENANT, type Row } from './recorded-events.js';

const { IEX, HRB } = DEMO.couriers;

const fixture = withService({ poolSize: 30 });
const { service } = fixture;
const { one, record, statusOf, expectChain, auditOf, pair, receive, select } = makeRecordedEvents(fixture);
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
  await service().tokenOf('warehouse');
}, 60_000);

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
