import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeDeliveries, PARTNER } from './planted-deliveries.js';

const fixture = withService();
const { api, db, service } = fixture;
const { insertSent, setUrls, pause } = makeDeliveries(fixture);

test('a dry run of redeliver_matching counts what would be sent, and changes nothing', async () => {
  await setUrls(PARTNER);
  for (const status of ['failed', 'failed', 'delivered']) await insertSent(DEMO.couriers.IEX, { status });
  await insertSent(DEMO.couriers.HRB, { status: 'failed' });
  await pause(DEMO.couriers.IEX, 'update_package');
  const tables = ['webhook_deliveries', 'audit_entries', 'courier_quotas', 'events'] as const;
  const counts = () => Promise.all(tables.map((table) => db.count(table, {})));
  const before = await counts();
  const filter = { action: 'redeliver_matching', from: '2026-01-01 00:00:00', status: 'failed' } as const;
  const { data, message } = await api
    .as('iex')
    .manageWebhookDeliveries({ ...filter, dry_run: true })
    .ok();
  expect(message).toBe('2 events match. Nothing was sent. update_package is paused. Send a test first.');
  expect(data).toEqual({
    since: '2026-01-01 00:00:00',
    endpoints: {
      add_package: { selected: 2, queued: 0, pending: 0, skipped: null },
      update_package: { selected: 0, queued: 0, pending: 0, skipped: 'paused' },
    },
    has_more: false,
  });
  expect(await counts()).toEqual(before);
  const sent = await api
    .as('iex')
    .manageWebhookDeliveries({ ...filter, dry_run: false })
    .ok();
  expect(sent.data).toMatchObject({ endpoints: { add_package: { selected: 2, queued: 2 } } });
  await api
    .as('admin')
    .manageWebhookDeliveries({ ...filter, dry_run: true, courier_id: DEMO.couriers.TWO })
    .refused(404, 'courier_not_found');
});

test('a dry run neither locks the courier nor waits for its lock', async () => {
  await setUrls(PARTNER);
  const client = await service().owner.connect();
  try {
    await client.query('begin');
    await client.query('select from couriers where id = $1 for update', [DEMO.couriers.IEX]);
    const filter = { action: 'redeliver_matching', from: '2026-01-01 00:00:00', dry_run: true } as const;
    await api.as('iex').manageWebhookDeliveries(filter).ok();
  } finally {
    await client.query('rollback');
    client.release();
  }
});
