import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { PendingCall } from '../../support/fixture/pending-call.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { makeManifests, STATUSES } from '../../support/manifests/manifest-calls.js';
import { insertPackages, PACKAGE_STATUSES, statusesOf } from '../../support/manifests/packages.js';
import { setWebhookUrls } from '../../support/receivers/outbound.js';

const PACKAGE_OF_TWO = DEMO.packages.two[0] ?? '';
const MANY = rounds(1_000, 10_000);

const { api, db, service } = withService();
const staff = api.as('warehouse');
const { draft, update } = makeManifests(api);

beforeAll(() => setWebhookUrls(service().owner, [DEMO.couriers.IEX, DEMO.couriers.HRB]));

describe('adding and removing packages', () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await draft());
  });
  const add = (package_ids: string[], manifest_id = id) =>
    staff.manageManifest({ action: 'add_packages', manifest_id, package_ids });
  const remove = (package_ids: string[], manifest_id = id) =>
    staff.manageManifest({ action: 'remove_packages', manifest_id, package_ids });

  test('assigns packages, ignores repeated ones and counts an id once', async () => {
    const [first, second] = await insertPackages(db, 2);
    const once = await add([first, first.toUpperCase()]).ok();
    expect(once.body).toMatchObject({ message: '1 package added.', data: { manifest_id: id, added: 1 } });
    expect((await add([first, second]).ok()).data).toEqual({ manifest_id: id, added: 1 });
    expect((await add([first, second]).ok()).body).toMatchObject({
      message: '0 packages added.',
      data: { added: 0 },
    });
    expect(await db.package(second)).toMatchObject({ manifest_id: id, status: 'received' });
    expect((await db.auditOf(id)).slice(1)).toMatchObject([
      { action: 'manifest.packages_added', after: { package_ids: [first] } },
      { action: 'manifest.packages_added', after: { package_ids: [second] } },
    ]);
  });

  test('the webhook contains the full number of a package with a known customer', async () => {
    const [known] = await insertPackages(db, 1, { userCode: 'IEX-1001' });
    await add([known]).ok();
    for (const status of ['ready', 'shipped'] as const) await update(id, { status }).ok();
    const [webhook] = await db.eventsOf(known);
    const { tracking_number } = await db.package(known);
    expect(webhook?.data).toMatchObject({ tracking_number, user_code: 'IEX-1001' });
  });

  test('rejects all packages if one cannot be added, and names each with the reason', async () => {
    const { id: other } = await draft();
    const [free, taken] = await insertPackages(db, 2);
    const unavailable: string[] = [];
    for (const status of PACKAGE_STATUSES.slice(1))
      unavailable.push(...(await insertPackages(db, 1, { status })));
    await add([taken], other).ok();
    const reply = await add([free, taken, ...unavailable, taken]).refused(400, 'packages_not_assignable');
    expect(reply.errors).toEqual([
      {
        field: 'package_ids[1]',
        code: 'on_another_manifest',
        message: `Package ${taken} is on another manifest.`,
      },
      ...unavailable.map((each, index) => ({
        field: `package_ids[${index + 2}]`,
        code: 'not_available',
        message: `Package ${each} is ${PACKAGE_STATUSES[index + 1]}. Only a received package can be added to a manifest.`,
      })),
    ]);
    expect(await db.package(free)).toMatchObject({ manifest_id: null });
    expect(await db.package(taken)).toMatchObject({ manifest_id: other });
    expect(await db.auditOf(id)).toHaveLength(1);
  });

  test('responds identically to unknown and foreign packages, before any other error', async () => {
    const [free] = await insertPackages(db, 1);
    const [shipped] = await insertPackages(db, 1, { status: 'shipped' });
    const foreign = PACKAGE_OF_TWO;
    const unknown = randomUUID();
    for (const call of [add, remove]) {
      const replies = [
        await call([free, shipped, foreign]).refused(404, 'package_not_found'),
        await call([free, shipped, unknown]).refused(404, 'package_not_found'),
      ];
      const texts = replies.map(({ body }) => JSON.stringify({ ...body, request_id: '', timestamp: 0 }));
      expect(texts[0]?.replaceAll(foreign, unknown)).toBe(texts[1]);
      expect(replies[1]?.errors).toEqual([
        { field: 'package_ids[2]', code: 'not_found', message: `Package ${unknown} does not exist.` },
      ]);
    }
    expect(await db.package(free)).toMatchObject({ manifest_id: null });
    expect(await db.package(foreign)).toMatchObject({ manifest_id: null });
  });

  test('frees removed packages, all or none', async () => {
    const [first, second, outside] = await insertPackages(db, 3);
    await add([first, second]).ok();
    const refused = await remove([first, outside]).refused(400, 'packages_not_assignable');
    expect(refused.errors).toEqual([
      {
        field: 'package_ids[1]',
        code: 'not_on_manifest',
        message: `Package ${outside} is not on this manifest.`,
      },
    ]);
    expect(await db.package(first)).toMatchObject({ manifest_id: id });
    const reply = await remove([first, second, first]).ok();
    expect(reply.body).toMatchObject({
      message: '2 packages removed.',
      data: { manifest_id: id, removed: 2 },
    });
    expect(await db.package(first)).toMatchObject({ manifest_id: null, status: 'received' });
    expect((await db.auditOf(id)).at(-1)).toMatchObject({
      action: 'manifest.packages_removed',
      after: { package_ids: [first, second].sort() },
    });
    const { id: other } = await draft();
    expect((await add([first, second], other).ok()).data.added).toBe(2);
  });

  test.each(STATUSES)('is possible only while the manifest is draft or ready: %s', async (status) => {
    const [aboard] = await insertPackages(db, 1, { manifestId: id });
    const [free] = await insertPackages(db, 1);
    await db.query('update manifests set status = $2 where id = $1', [id, status]);
    if (status === 'draft' || status === 'ready') {
      await add([free]).ok();
      await remove([aboard]).ok();
      await add([randomUUID()]).refused(404, 'package_not_found');
      return;
    }
    const { message } = await add([free]).refused(400, 'manifest_closed');
    expect(message).toContain(status);
    await remove([aboard]).refused(400, 'manifest_closed');
    await add([randomUUID()]).refused(400, 'manifest_closed');
    expect(await db.package(free)).toMatchObject({ manifest_id: null });
    expect(await db.package(aboard)).toMatchObject({ manifest_id: id });
  });

  test(`handles ${MANY} packages within ${MANY / 1_000} seconds per call`, async () => {
    const packages = await insertPackages(db, MANY);
    // Autovacuum does this after a minute. Before, foreign keys are checked with a plan for a table of 500 rows.
    await db.query('analyze packages');
    const took: number[] = [];
    const timed = async (call: PendingCall<'manageManifest'>) => {
      const start = performance.now();
      await call.ok();
      took.push(performance.now() - start);
    };
    await timed(add(packages));
    await timed(remove(packages));
    await timed(add(packages));
    for (const status of STATUSES.slice(1)) await timed(update(id, { status }));
    expect(Math.max(...took)).toBeLessThan(MANY);
    expect(await statusesOf(db, packages)).toEqual(['delivered']);
    const counts = await db.query(
      `select count(*)::int as events, count(distinct e.package_id)::int as packages
       from package_events e join packages p on p.id = e.package_id where p.manifest_id = $1`,
      [id],
    );
    expect(counts).toEqual([{ events: 2 * MANY, packages: MANY }]);
  }, 60_000);

  test('takes from 1 to 10,000 packages per call', async () => {
    const tooMany = Array.from({ length: 10_001 }, () => randomUUID());
    await add(tooMany).refused(400, 'validation_failed');
    await add([]).refused(400, 'validation_failed');
  });
});
