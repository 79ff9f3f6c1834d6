import { expect, test } from '@jest/globals';
import { withService } from '../../support/fixture/with-service.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { insertPackages } from '../../support/manifests/packages.js';
import { until } from '../../support/service/processes.js';

const MAX_PACKAGES = 10_000;
const CALLERS = 4;

const { api, db, service } = withService({ poolSize: 40 });
const { draft, add } = makeManifests(api);

const countAboard = async (id: string) => (await db.all('packages', { manifest_id: [id] })).length;

/** The transactions that wait for a lock. */
const countWaiting = async () =>
  (
    await db.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).length;

/** A draft with so many packages fewer than a manifest can have. */
async function draftWithRoom(room: number): Promise<string> {
  const { id } = await draft();
  await insertPackages(db, MAX_PACKAGES - room, { manifestId: id });
  return id;
}

test('a manifest takes 10,000 packages and no more, all of a request or none', async () => {
  const id = await draftWithRoom(2);
  const [first, second, third] = await insertPackages(db, 3);
  const refused = await add(id, first, second, third).refused(400, 'manifest_full');
  expect(refused.message).toBe(
    'No package was added. The manifest would have 10001 packages, and can have at most 10000. Put the others on another manifest.',
  );
  expect(await countAboard(id)).toBe(MAX_PACKAGES - 2);
  expect((await add(id, first, second).ok()).data).toMatchObject({ added: 2 });
  await add(id, third).refused(400, 'manifest_full');
  // A repetition of what is aboard adds nothing.
  expect((await add(id, first, second).ok()).data).toMatchObject({ added: 0 });
  expect(await countAboard(id)).toBe(MAX_PACKAGES);
}, 60_000);

test(`of ${CALLERS} simultaneous callers who each add a package to a manifest with room for one, one succeeds`, async () => {
  const id = await draftWithRoom(1);
  const packages = await insertPackages(db, CALLERS);
  const holder = await service().owner.connect();
  try {
    // Packages can be locked and counted, but not changed: without the lock of the manifest, each caller would find room.
    await holder.query('begin; lock table packages in share mode');
    const added = packages.map((packageId) => add(id, packageId).answer());
    await until(async () => (await countWaiting()) >= CALLERS);
    await holder.query('commit');
    const codes = (await Promise.all(added)).map(({ code }) => code ?? 'added').sort();
    expect(codes).toEqual(['added', ...Array.from({ length: CALLERS - 1 }, () => 'manifest_full')]);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  expect(await countAboard(id)).toBe(MAX_PACKAGES);
}, 60_000);
