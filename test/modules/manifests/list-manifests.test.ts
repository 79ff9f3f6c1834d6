import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';

const { api } = withService();

const list = (as: string, query: Record<string, string | number | undefined> = {}) =>
  api.as(as).listManifests(query);

test('staff get all manifests of the tenant, the newest first, with the figures of GetManifest', async () => {
  const created = await api.as('warehouse').createManifest({}).ok();
  const { data } = await list('warehouse').answer();
  const ids = data.map(({ manifest_id }: { manifest_id: string }) => manifest_id);
  expect(ids[0]).toBe(created.data.manifest_id);
  expect(ids.slice(1)).toEqual([DEMO.manifests.draft, DEMO.manifests.shipped]);
  for (const { packages, weight_lb, ...info } of data) {
    const { data } = await api.as('warehouse').getManifest({ id: info.manifest_id }).ok();
    expect({ info, packages, weight_lb }).toEqual({
      info: data.info,
      packages: data.stats.total_count,
      weight_lb: data.stats.total_weight_lb,
    });
  }
});

test('a courier gets the manifests with a package of its own, and counts only these', async () => {
  const [staff, iex, hrb] = await Promise.all(
    ['admin', 'iex', 'hrb'].map((as) => list(as, { status: 'shipped' }).answer()),
  );
  const counted = [staff, iex, hrb].map((reply) => reply?.data[0]?.packages);
  expect(counted[1]).toBeGreaterThan(0);
  expect((counted[1] ?? 0) + (counted[2] ?? 0)).toBe(counted[0]);
  // The new manifest of the first test is empty.
  expect((await list('iex').ok()).data).toHaveLength(2);
});

test('a manifest that a courier may not see, and an unknown one, are followed by none', async () => {
  const { data } = await api.as('warehouse').createManifest({}).answer();
  for (const before of [data.manifest_id, randomUUID()])
    expect((await list('iex', { before }).ok()).data).toEqual([]);
  expect((await list('admin', { before: data.manifest_id }).ok()).data.length).toBeGreaterThan(1);
});

test('another tenant gets none of them', async () => {
  expect((await list('two/admin').ok()).data).toEqual([]);
});

test('pages follow each other without gaps and repetitions', async () => {
  const all = (await list('admin').ok()).data;
  const first = (await list('admin', { limit: 1 }).ok()).body;
  expect(first).toMatchObject({
    message: '1 manifest on this page.',
    meta: { limit: 1, next_before: all[0]?.manifest_id },
  });
  const rest = (await list('admin', { before: first['meta'].next_before ?? undefined }).ok()).body;
  expect([...first['data'], ...rest['data']]).toEqual(all);
  expect(rest['meta'].next_before).toBeNull();
});

test('refuses an unknown status and a limit above 100 with 400, and a request without a token with 401', async () => {
  expect(await list('admin', { status: 'lost' }).answer()).toMatchObject({ status: 400 });
  expect(await list('admin', { limit: 101 }).answer()).toMatchObject({ status: 400 });
  expect(await api.anonymous.listManifests().status()).toBe(401);
});
