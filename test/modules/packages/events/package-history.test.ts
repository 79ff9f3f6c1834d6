import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { eventsOf, setWebhookUrls } from '../../../support/receivers/outbound.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeRecordedEvents, type Row, tally, CALLERS } from './recorded-events.js';

const { IEX, HRB } = DEMO.couriers;

const fixture = withService({ poolSize: 30 });
const { api, service } = fixture;
const {
  receive,
  step,
  newManifest,
  record,
  historyOf,
  select,
  insertRows,
  statusOf,
  expectChain,
  one,
  auditOf,
} = makeRecordedEvents(fixture);
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
  await service().tokenOf('warehouse');
}, 60_000);

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
