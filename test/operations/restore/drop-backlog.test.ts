import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertDelivery, insertEvent } from '../../support/builders/deliveries.js';
import { endProcesses, removeFolders, run } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

// npm run outbound -- --drop: what waits for one courier is given up.

const LIMIT_MS = 60_000;
let service: Service;

beforeAll(async () => {
  service = await startService();
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await service.stop();
  await removeFolders();
}, LIMIT_MS);

async function outbound(args: string): Promise<{ code: number | null; output: string }> {
  const DATABASE_OWNER_URL = String(service.owner.options.connectionString);
  const running = run('src/commands/outbound.js', { DATABASE_OWNER_URL }, args.split(' '));
  const { code } = await running.ended;
  return { code, output: running.output() };
}

async function statuses(): Promise<Record<string, number>> {
  const { rows } = await service.owner.query<{ key: string; count: number }>(
    `select c.code || ' ' || d.status as key, count(*)::int as count
     from webhook_deliveries d join couriers c on c.id = d.courier_id and c.tenant_id = d.tenant_id group by 1`,
  );
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
}

test(
  'drops only what waits for the courier, created before the time, and records it',
  async () => {
    const { owner } = service;
    for (const courierId of [DEMO.couriers.IEX, DEMO.couriers.HRB])
      for (const createdAt of ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'])
        await insertDelivery(owner, {
          eventId: await insertEvent(owner, { courierId }),
          status: 'pending',
          createdAt,
        });
    await insertDelivery(owner, { eventId: await insertEvent(owner), status: 'delivered' });
    const options = '--drop webhooks --tenant demo --courier iex';

    expect(await outbound(`${options} --before 2026-01-15T00:00:00Z`)).toEqual({
      code: 0,
      output: 'Dropped 1 webhooks of demo iex, created before 2026-01-15T00:00:00.000Z.\n',
    });
    expect(await statuses()).toEqual({
      'IEX pending': 1,
      'IEX failed': 1,
      'IEX delivered': 1,
      'HRB pending': 2,
    });
    expect((await outbound(options)).output).toMatch(/^Dropped 1 webhooks of demo iex, created before /);
    expect((await outbound(options)).output).toMatch(/^Dropped 0 webhooks/);
    expect(await statuses()).toEqual({ 'IEX failed': 2, 'IEX delivered': 1, 'HRB pending': 2 });

    const { rows } = await owner.query(
      `select entity_id, after ->> 'dropped' as dropped from audit_entries
     where action = 'courier.outbound_dropped' order by at, id`,
    );
    expect(rows).toEqual(['1', '1', '0'].map((dropped) => ({ entity_id: DEMO.couriers.IEX, dropped })));
  },
  LIMIT_MS,
);

test.each([
  ['--drop webhooks', 'Use '],
  ['--drop everything --tenant demo --courier IEX', 'Use '],
  ['--drop webhooks --tenant demo --courier IEX --resume', 'Use '],
  ['--tenant demo --courier IEX', 'Use '],
  ['--drop webhooks --tenant demo --courier NONE', 'The tenant demo has no courier NONE.'],
  ['--drop webhooks --tenant two --courier IEX', 'The tenant two has no courier IEX.'],
  ['--drop webhooks --tenant demo --courier IEX --before 2026-01-15', '2026-01-15 is not a time with a zone'],
])(
  'refuses %s and drops nothing',
  async (args, message) => {
    const before = await statuses();
    const { code, output } = await outbound(args);
    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(await statuses()).toEqual(before);
  },
  LIMIT_MS,
);
