import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertDispatch } from '../../support/builders/deliveries.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, service } = withService();
beforeAll(async () => {
  await service().owner.query(
    "update couriers set api_url_update_package = 'https://receiver.example.com/update'",
  );
}, 60_000);

beforeEach(async () => {
  await service().owner.query('delete from package_syncs; delete from dispatches');
});

const list = (as: string, query: Record<string, string | number | undefined> = {}) =>
  api.as(as).listDispatches(query);

const dispatch = async (as: string, body: object): Promise<string> => {
  const reply = await api
    .as(as)
    .listPackages({ action: 'queue_dispatch', ...body })
    .ok();
  return reply.data.dispatch_id;
};

const idsIn = ({ body }: Reply) =>
  (body['data'] as { dispatch_id: string }[]).map((each) => each.dispatch_id);

/** Returns the progress of one dispatch as the list shows it. */
async function progressOf(id: string): Promise<unknown> {
  const { data } = await list('admin', { dispatch_id: id }).answer();
  expect(data).toHaveLength(1);
  return data[0]?.progress;
}

const IEX_PACKAGES = [...DEMO.packages.available.IEX];
const NONE = { queued: 0, sending: 0, sent: 0, failed: 0, superseded: 0 };

test('lists a dispatch with its counts and the user who requested it', async () => {
  const ids = [...IEX_PACKAGES, DEMO.packages.ownerUnknown[0]];
  const id = await dispatch('manager', { package_ids: ids });
  const { data, meta } = await list('admin').answer();
  expect(data).toEqual([
    {
      dispatch_id: id,
      courier_id: null,
      requested_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      requested_by: DEMO.users.manager,
      total_selected: 7,
      total_queued: 6,
      progress: { ...NONE, queued: 6 },
    },
  ]);
  expect(meta).toEqual({ limit: 20, next_before: null });
});

test('lists a dispatch that selected nothing', async () => {
  const id = await dispatch('iex', { package_ids: [randomUUID()] });
  expect((await list('iex').ok()).data).toMatchObject([
    { dispatch_id: id, courier_id: DEMO.couriers.IEX, total_selected: 0, total_queued: 0, progress: NONE },
  ]);
});

test('progress counts each package by its status and adds up to the queued packages', async () => {
  const id = await dispatch('admin', { package_ids: IEX_PACKAGES });
  const statuses = ['sending', 'sent', 'sent', 'failed'];
  for (const [n, status] of statuses.entries())
    await service().owner.query(
      'update package_syncs set status = $2, settled_at = now() where package_id = $1',
      [IEX_PACKAGES[n], status],
    );
  expect(await progressOf(id)).toEqual({ queued: 2, sending: 1, sent: 2, failed: 1, superseded: 0 });
});

test('packages taken over by a later dispatch or update count as superseded, and waiting ones stay with the first dispatch', async () => {
  const first = await dispatch('admin', { package_ids: IEX_PACKAGES });
  await service().owner.query(
    "update package_syncs set status = 'sent', settled_at = now() where package_id = any($1)",
    [IEX_PACKAGES.slice(0, 3)],
  );
  await service().owner.query('update packages set updated_at = now() where id = any($1)', [IEX_PACKAGES]);
  const second = await dispatch('iex', { package_ids: [...IEX_PACKAGES.slice(1, 5)] });
  expect(await progressOf(first)).toEqual({ ...NONE, queued: 3, sent: 1, superseded: 2 });
  expect(await progressOf(second)).toEqual({ ...NONE, queued: 2 });
  const body = { package_id: IEX_PACKAGES[0], package_type: `other ${randomUUID()}` };
  expect(await api.as('admin').updatePackage(body).status()).toBe(200);
  expect(await progressOf(first)).toEqual({ ...NONE, queued: 3, superseded: 3 });
});

test('staff see all dispatches of their tenant, couriers only those of their own users', async () => {
  const byStaff = await dispatch('warehouse', { package_ids: IEX_PACKAGES });
  const iex = await dispatch('iex', { package_ids: IEX_PACKAGES });
  const hrb = await dispatch('hrb', { package_ids: IEX_PACKAGES });
  const two = await dispatch('two/two', { package_ids: [DEMO.packages.two[0]] });
  for (const as of ['admin', 'manager', 'warehouse'])
    expect(idsIn(await list(as).answer())).toEqual([hrb, iex, byStaff]);
  expect(idsIn(await list('iex').answer())).toEqual([iex]);
  expect(idsIn(await list('hrb').answer())).toEqual([hrb]);
  expect(idsIn(await list('two/admin').answer())).toEqual([two]);
  for (const dispatch_id of [byStaff, hrb, two, randomUUID()])
    expect(idsIn(await list('iex', { dispatch_id }).answer())).toEqual([]);
  expect(await api.anonymous.listDispatches().answer()).toMatchObject({ status: 401 });
  expect(await list('disabled').answer()).toMatchObject({ status: 403 });
});

test('lists dispatches newest first, 20 per page, each once with keyset pagination', async () => {
  const inserted: string[] = [];
  for (let count = 0; count < 45; count += 1) inserted.push(await insertDispatch(service().owner));
  const inOrder = inserted.sort().reverse();
  const first = await list('admin').answer();
  const second = await list('admin', { before: first.meta.next_before ?? undefined }).answer();
  const third = await list('admin', { before: second.meta.next_before ?? undefined }).answer();
  expect([idsIn(first), idsIn(second), idsIn(third)]).toEqual([
    inOrder.slice(0, 20),
    inOrder.slice(20, 40),
    inOrder.slice(40),
  ]);
  expect(third.meta.next_before).toBeNull();
});
