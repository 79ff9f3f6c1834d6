import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { runBackgroundMigrations } from '../../../src/jobs/background-migrations/run.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { startService, type Service } from '../../support/service/service.js';

// Earlier releases left pre-alerts of labels pending that were announced after the number inside them was received.

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService();
  parcels = makeParcels(service);
});

afterAll(async () => {
  await service.stop();
});

const LABELS = {
  own: ['1001921334250001800354779017972697', '779017972697'],
  others: ['00340123456789012341', '340123456789012341'],
  flagged: ['00340123456789012358', '340123456789012358'],
} as const;

/** Announces a label, and gives the pre-alert the status and key of an earlier release. */
async function announceEarlier(label: string): Promise<string> {
  const id = await parcels.announce('IEX', label);
  await parcels.select(
    `update prealerts set status = 'pending', tracking_key = tracking_number where id = $1`,
    [id],
  );
  return id;
}

async function migrate(): Promise<void> {
  await parcels.select(
    `update installation.background_migrations set status = 'running', tenant_id = null, last_key = null, batch_rows = 3
     where name like '%_announced_labels'`,
  );
  const stopping = new AbortController().signal;
  await runBackgroundMigrations({ db: service.db, stopping, log: pino({ level: 'silent' }) }, MIGRATIONS);
  const [done] = await parcels.select(
    `select status, last_error from installation.background_migrations where name like '%_announced_labels'`,
  );
  expect(done).toEqual({ status: 'finished', last_error: null });
}

test("only pre-alerts of the package's customer become received, and no package changes", async () => {
  const packages = {
    own: await parcels.receive(LABELS.own[1], { user_code: 'IEX-1001' }),
    others: await parcels.receive(LABELS.others[1], { user_code: 'HRB-2001' }),
    flagged: await parcels.receive(LABELS.flagged[1], { user_code: 'IEX-1001' }),
  };
  const ids = {
    own: await announceEarlier(LABELS.own[0]),
    others: await announceEarlier(LABELS.others[0]),
    flagged: await announceEarlier(LABELS.flagged[0]),
    absent: await announceEarlier(newNumber()),
  };
  await parcels.select(
    'insert into prealert_flags (tenant_id, courier_id, tracking_key) values ($1, $2, $3)',
    [DEMO.tenants.demo, DEMO.couriers.IEX, LABELS.flagged[1]],
  );
  const rows = () => Promise.all(Object.values(packages).map((id) => parcels.packageRow(id)));
  const before = await rows();
  await migrate();
  await migrate();
  const statuses = Object.entries(ids).map(async ([name, id]) => [name, await parcels.statusOf(id)]);
  expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
    own: 'received',
    others: 'pending',
    flagged: 'pending',
    absent: 'pending',
  });
  expect(await rows()).toEqual(before);
  expect((await parcels.prealertRow(ids.own))['tracking_key']).toBe(LABELS.own[1]);
  const changes = (await parcels.auditOf(ids.own)).filter(({ action }) => action === 'prealert.received');
  expect(changes).toHaveLength(1);
});
