import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../src/development/demo/seed.js';
import { startService, type Service } from '../../support/service/service.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const list = (as: string, query: Record<string, string | number> = {}) =>
  service.call('listManifests', { as, query });

test('staff get all manifests of the tenant, the newest first, with the figures of GetManifest', async () => {
  const created = await service.call('createManifest', { as: 'warehouse', body: {} });
  const { body } = await list('warehouse');
  const ids = body['data'].map(({ manifest_id }: { manifest_id: string }) => manifest_id);
  expect(ids[0]).toBe(created.body['data'].manifest_id);
  expect(ids.slice(1)).toEqual([DEMO.manifests.draft, DEMO.manifests.shipped]);
  for (const { packages, weight_lb, ...info } of body['data']) {
    const { data } = (await service.call('getManifest', { as: 'warehouse', query: { id: info.manifest_id } }))
      .body;
    expect({ info, packages, weight_lb }).toEqual({
      info: data.info,
      packages: data.stats.total_count,
      weight_lb: data.stats.total_weight_lb,
    });
  }
});

test('a courier gets the manifests with a package of its own, and counts only these', async () => {
  const [staff, iex, hrb] = await Promise.all(
    ['admin', 'iex', 'hrb'].map((as) => list(as, { status: 'shipped' })),
  );
  const counted = [staff, iex, hrb].map((reply) => reply?.body['data'][0]?.packages);
  expect(counted[1]).toBeGreaterThan(0);
  expect(counted[1] + counted[2]).toBe(counted[0]);
  // The new manifest of the first test is empty.
  expect((await list('iex')).body['data']).toHaveLength(2);
});

test('a manifest that a courier may not see, and an unknown one, are followed by none', async () => {
  const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
  for (const before of [body['data'].manifest_id, randomUUID()])
    expect((await list('iex', { before })).body['data']).toEqual([]);
  expect((await list('admin', { before: body['data'].manifest_id })).body['data'].length).toBeGreaterThan(1);
});

test('another tenant gets none of them', async () => {
  expect((await list('two/admin')).body['data']).toEqual([]);
});

test('pages follow each other without gaps and repetitions', async () => {
  const all = (await list('admin')).body['data'];
  const first = (await list('admin', { limit: 1 })).body;
  expect(first).toMatchObject({
    message: '1 manifest on this page.',
    meta: { limit: 1, next_before: all[0].manifest_id },
  });
  const rest = (await list('admin', { before: first['meta'].next_before })).body;
  expect([...first['data'], ...rest['data']]).toEqual(all);
  expect(rest['meta'].next_before).toBeNull();
});

test('refuses an unknown status and a limit above 100 with 400, and a request without a token with 401', async () => {
  expect(await list('admin', { status: 'lost' })).toMatchObject({ status: 400 });
  expect(await list('admin', { limit: 101 })).toMatchObject({ status: 400 });
  expect((await service.call('listManifests')).status).toBe(401);
});
