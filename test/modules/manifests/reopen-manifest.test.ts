import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { mailsOf } from '../../support/receivers/outbound.js';
import { makeLoading } from '../../support/scans/loading.js';

const CALLERS = rounds(60, 200);
const RACES = rounds(10, 100);
const REFUSED = [400, 'manifest_invalid_transition'] as const;

const { api, db, service } = withService({ poolSize: 40 });
const { add, draft, ready, ship, update } = makeManifests(api);
const { received, load, unload, loadingOf } = makeLoading(api);

const reopen = (manifest_id: string, remarks?: string) =>
  api.as('warehouse').manageManifest({ action: 'reopen_manifest', manifest_id, remarks });

const statusOf = async (id: string) => (await db.manifest(id)).status;

const steps = async (id: string) =>
  (await db.auditOf(id)).filter(({ action }) => action === 'manifest.status_changed');

describe('a ready manifest', () => {
  test('becomes a draft with its packages, in one audit entry with the remarks, and without a mail', async () => {
    const parcel = await received();
    const { id } = await ready([parcel.id]);
    const mails = await mailsOf(service().owner, id);
    const { body } = await reopen(id, 'Two parcels follow').ok();
    expect(body).toMatchObject({
      message: 'The manifest is a draft again.',
      data: { manifest_id: id, status: 'draft' },
    });
    expect(await statusOf(id)).toBe('draft');
    expect(await db.package(parcel.id)).toMatchObject({ manifest_id: id, status: 'received' });
    expect((await steps(id)).at(-1)).toMatchObject({
      before: { status: 'ready' },
      after: { status: 'draft' },
      actor_id: DEMO.users.warehouse,
      remarks: 'Two parcels follow',
    });
    expect(await mailsOf(service().owner, id)).toEqual(mails);
  });

  test('keeps its fields, takes further packages, and mails the couriers again when it is ready again', async () => {
    const [first, second] = [await received(), await received()];
    const { id } = await ready([first.id], 'on');
    await update(id, { awb_number: '106-12345675', notes: 'Evening flight' }).ok();
    const before = await db.manifest(id);
    await reopen(id).ok();
    const { updated_at: _, ...after } = await db.manifest(id);
    expect({ ...before, ...after, status: 'ready' }).toEqual(before);
    expect(after.status).toBe('draft');
    await add(id, second.id).ok();
    await update(id, { status: 'ready' }).ok();
    expect((await mailsOf(service().owner, id)).map((mail) => mail.manifest_status)).toEqual([
      'ready',
      'ready',
    ]);
    await load(id, first.number, second.number);
    await ship(id).ok();
    expect(await db.package(second.id)).toMatchObject({ manifest_id: id, status: 'shipped' });
  });

  test('stays ready while parcels are loaded for it, and the refusal names them, received or not', async () => {
    const aboard = await received();
    const { id } = await ready([aboard.id]);
    const stranger = `STRANGER${Date.now()}`;
    await load(id, aboard.number, stranger);
    const refused = await reopen(id).refused(...REFUSED);
    expect(refused.message).toContain('while parcels are loaded for it: 2.');
    expect(refused.errors).toHaveLength(2);
    expect(refused.errors).toEqual(
      expect.arrayContaining(
        [aboard.number, stranger].map((number) => ({
          field: 'manifest_id',
          code: 'still_loaded',
          message: `Parcel ${number} is loaded. Take it off.`,
        })),
      ),
    );
    expect(await statusOf(id)).toBe('ready');
    await unload(id, aboard.number);
    await unload(id, stranger);
    await reopen(id).ok();
    // The scans stay in the history.
    expect((await loadingOf(id, { list: 'history' })).data.history).toHaveLength(4);
  });

  test('is not deleted while a parcel is loaded for it, although no package is on it', async () => {
    const aboard = await received();
    const { id } = await ready([aboard.id]);
    await load(id, aboard.number);
    await api
      .as('warehouse')
      .manageManifest({ action: 'remove_packages', manifest_id: id, package_ids: [aboard.id] })
      .ok();
    const remove = () => api.as('warehouse').manageManifest({ action: 'delete_manifest', manifest_id: id });
    const refused = await remove().refused(400, 'manifest_not_empty');
    expect(refused.message).toContain('while parcels are loaded for it: 1.');
    expect(refused.errors).toMatchObject([{ field: 'manifest_id', code: 'still_loaded' }]);
    await unload(id, aboard.number);
    await remove().ok();
  });

  test('names at most 100 loaded parcels', async () => {
    const { id } = await ready([]);
    await load(id, ...Array.from({ length: 130 }, (_, index) => `MANY${Date.now()}${index}`));
    const refused = await reopen(id).refused(...REFUSED);
    expect(refused.message).toContain(': 130.');
    expect(refused.errors).toHaveLength(100);
  });

  test('that is a draft again takes no load: the scan is kept, and is repeated once it is ready', async () => {
    const parcel = await received();
    const { id } = await ready([parcel.id]);
    await reopen(id).ok();
    expect(await load(id, parcel.number)).toMatchObject([
      { result: 'conflict', reason: 'manifest_not_ready' },
    ]);
    await update(id, { status: 'ready' }).ok();
    expect((await loadingOf(id)).data.counts).toMatchObject({ loaded: 0, missing: 1 });
    expect(await load(id, parcel.number)).toMatchObject([{ result: 'done' }]);
  });
});

test('a draft stays as it is, with 200 and without an audit entry', async () => {
  const { id } = await draft();
  const before = await db.manifest(id);
  const { body } = await reopen(id).ok();
  expect(body['message']).toBe('The manifest is a draft already. Nothing was changed.');
  expect(await db.manifest(id)).toEqual(before);
  expect(await steps(id)).toEqual([]);
});

test.each(['shipped', 'completed'] as const)('a manifest that is %s does not go back', async (status) => {
  const parcel = await received();
  const { id } = await ready([parcel.id]);
  await ship(id).ok();
  if (status === 'completed') await update(id, { status }).ok();
  const before = await db.manifest(id);
  const { message } = await reopen(id).refused(...REFUSED);
  expect(message).toBe(
    `The manifest is ${status}. Only a ready manifest can go back to draft. Put further packages on another manifest.`,
  );
  expect(await db.manifest(id)).toEqual(before);
});

test('update_meta does not go back, as before', async () => {
  const { id } = await ready([]);
  await update(id, { status: 'draft' }).refused(...REFUSED);
  expect(await statusOf(id)).toBe('ready');
});

test(`${CALLERS} simultaneous callers move it back once`, async () => {
  const { id } = await ready([]);
  const replies = await Promise.all(Array.from({ length: CALLERS }, () => reopen(id).ok()));
  const moved = replies.filter(({ body }) => body['message'] === 'The manifest is a draft again.');
  expect(moved).toHaveLength(1);
  expect((await steps(id)).map(({ after }) => after)).toEqual([{ status: 'ready' }, { status: 'draft' }]);
});

test(`a shipment and a step back at the same time: ${RACES} times, one of them happens`, async () => {
  for (let round = 0; round < RACES; round += 1) {
    const parcel = await received();
    const { id } = await ready([parcel.id]);
    const calls = [ship(id), reopen(id)];
    const statuses = await Promise.all(
      (round % 2 ? calls.reverse() : calls).map(async (call) => (await call.answer()).status),
    );
    expect(statuses.toSorted()).toEqual([200, 400]);
    const isShipped = statuses[round % 2] === 200;
    expect([await statusOf(id), (await db.package(parcel.id)).status]).toEqual(
      isShipped ? ['shipped', 'shipped'] : ['draft', 'received'],
    );
    expect(await steps(id)).toHaveLength(2);
  }
});

test(`loads and a step back at the same time: ${RACES} times, nothing is loaded for a draft`, async () => {
  for (let round = 0; round < RACES; round += 1) {
    const parcels = await Promise.all(Array.from({ length: 8 }, () => received()));
    const { id } = await ready(parcels.map((parcel) => parcel.id));
    const [status, ...scans] = await Promise.all([
      reopen(id)
        .answer()
        .then((reply) => reply.status),
      ...parcels.map(async ({ number }) => (await load(id, number))[0]?.result),
    ]);
    const done = scans.filter((result) => result === 'done').length;
    const { counts } = (await loadingOf(id)).data;
    expect([await statusOf(id), counts.loaded]).toEqual(status === 200 ? ['draft', 0] : ['ready', done]);
    if (status === 400) expect(done).toBeGreaterThan(0);
  }
});
