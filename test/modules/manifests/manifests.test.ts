import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { expectSameRefusal } from '../../support/assertions/same-refusal.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { insertPackages } from '../../support/manifests/packages.js';

const STAFF = ['admin', 'manager', 'warehouse'];
const SHARE = rounds(40, 20);
const NUMBERS = rounds(160, 300);

const { api, db, service } = withService();
const { draft, update } = makeManifests(api);

const demo = DEMO.tenants.demo;

/** Creates a manifest by the action of ManifestDetails. Fields of other actions are ignored. */
const create = (fields: object) =>
  api.as('warehouse').manageManifest(unchecked({ action: 'create_manifest', ...fields }));

const infoOf = async (id: string) => (await api.as('admin').getManifest({ id }).ok()).data.info;

describe('creating a manifest', () => {
  test.each(STAFF)('%s may create an empty draft, even without a body', async (as) => {
    const reply = await api.as(as).createManifest().ok();
    const { manifest_id, ...data } = reply.data;
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    expect(data).toEqual({
      manifest_number: expect.stringMatching(new RegExp(`^MAN-${today}-[A-Z0-9]{4}$`)),
      status: 'draft',
      awb_check: 'not_checked',
    });
    expect(await db.manifest(manifest_id)).toMatchObject({
      tenant_id: demo,
      status: 'draft',
      awb_number: null,
      airline_prefix: null,
      warehouse_id: DEMO.warehouses.primary,
    });
  });

  test('stores a named warehouse and responds 404 identically to unknown and foreign ones', async () => {
    const named = await api.as('admin').createManifest({ warehouse_id: DEMO.warehouses.second }).ok();
    expect(await db.manifest(named.data.manifest_id)).toMatchObject({
      warehouse_id: DEMO.warehouses.second,
    });
    const before = await db.count('manifests');
    const foreign = { warehouse_id: DEMO.warehouses.two };
    await expectSameRefusal(404, 'warehouse_not_found', [
      api.as('admin').createManifest({ warehouse_id: randomUUID() }),
      api.as('admin').createManifest(foreign),
    ]);
    await create(foreign).refused(404, 'warehouse_not_found');
    expect(await db.count('manifests')).toBe(before);
  });

  test('stores the fields as sent, and airline_prefix only without a number', async () => {
    const sent = { flight_date: '2026-12-24', notes: 'Fragile', airline_prefix: '810' };
    const bare = await create(sent).ok();
    expect(bare.body['timestamp']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(await infoOf(bare.data.manifest_id)).toMatchObject({
      ...sent,
      awb_number: null,
      status: 'draft',
    });
    const numbered = await create({ ...sent, awb_number: '106-12345675' }).ok();
    expect(numbered.data.awb_check).toBe('valid');
    expect(await infoOf(numbered.data.manifest_id)).toMatchObject({ airline_prefix: '106' });
    const lettered = await create({ ...sent, awb_number: 'AWB-1' }).ok();
    expect(await infoOf(lettered.data.manifest_id)).toMatchObject({ airline_prefix: null });
  });

  test('audits the user, the airline and the remarks', async () => {
    const body = { awb_number: '106-12345670', remarks: 'Evening flight' };
    const reply = await api.as('warehouse').createManifest(body).ok();
    expect(await db.auditOf(reply.data.manifest_id)).toEqual([
      {
        action: 'manifest.created',
        actor_kind: 'user',
        actor_id: DEMO.users.warehouse,
        request_id: reply.requestId,
        remarks: 'Evening flight',
        before: null,
        after: {
          manifest_number: reply.data.manifest_number,
          status: 'draft',
          awb_number: '106-12345670',
          airline_prefix: '106',
          airline: 'Caribbean Airlines',
          flight_date: null,
          flight_number: null,
          notes: null,
          loading_gate: 'warehouse',
          warehouse_id: DEMO.warehouses.primary,
        },
      },
    ]);
  });

  test('ignores keys that a caller may not set', async () => {
    const body = {
      status: 'completed',
      manifest_number: 'MAN-19990101-AAAA',
      tenant_id: DEMO.tenants.two,
      id: randomUUID(),
    };
    const reply = await api.as('admin').createManifest(unchecked(body)).ok();
    expect(reply.data.manifest_number).not.toBe(body.manifest_number);
    expect(await db.manifest(reply.data.manifest_id)).toMatchObject({
      tenant_id: demo,
      status: 'draft',
    });
  });

  test('ignores a field of another action, whatever its type', async () => {
    const otherFields = {
      notes: 7,
      flight_date: 'never',
      airline_prefix: {},
      flight_number: ['BW'],
      warehouse: null,
    };
    const created = await api.as('admin').createManifest(unchecked(otherFields)).ok();
    const managed = await create({ flight_number: 485, remarks: { a: 1 }, status: 'ready' }).ok();
    for (const { data } of [created, managed]) {
      expect(await infoOf(data.manifest_id)).toMatchObject({
        notes: null,
        flight_date: null,
        airline_prefix: null,
        flight_number: null,
      });
      expect(await db.auditOf(data.manifest_id)).toMatchObject([{ remarks: null }]);
    }
  });

  test(`generates ${NUMBERS} free numbers on a day that has used one in ${SHARE} of the 1,679,616 numbers`, async () => {
    await insertWithoutTriggers(
      service().owner,
      `insert into manifests (tenant_id, id, manifest_number, warehouse_id)
       select $1, gen_random_uuid(), 'MAN-' || to_char(now() at time zone 'UTC', 'YYYYMMDD') || '-' || suffix, $2
       from (select substr($3, 1 + n % 36, 1) || substr($3, 1 + n / 36 % 36, 1) || substr($3, 1 + n / 1296 % 36, 1)
           || substr($3, 1 + n / 46656, 1) as suffix
         from generate_series(0, 36 * 36 * 36 * 36 - 1, $4::int) as n) as taken
       on conflict do nothing`,
      [demo, DEMO.warehouses.second, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', SHARE],
    );
    const numbers: string[] = [];
    for (let round = 0; round < NUMBERS / 20; round += 1) {
      const create = () => api.as('admin').createManifest().ok();
      const created = await Promise.all(Array.from({ length: 20 }, create));
      numbers.push(...created.map(({ data }) => data.manifest_number));
    }
    expect(new Set(numbers).size).toBe(NUMBERS);
  }, 60_000);
});

describe('updating fields', () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await draft([], { awb_number: '106-12345675', flight_date: '2026-12-01', notes: 'First' }));
  });

  test('changes only the given fields', async () => {
    const before = await db.manifest(id);
    const { data } = await update(id, { flight_number: 'BW 485', remarks: 'Told by phone' }).ok();
    expect(data).toMatchObject({ manifest_id: id, status: 'draft', awb_check: 'valid' });
    expect(await db.manifest(id)).toEqual({
      ...before,
      flight_number: 'BW 485',
      updated_at: expect.any(Date),
    });
    expect((await db.auditOf(id)).slice(1)).toMatchObject([
      {
        action: 'manifest.updated',
        before: { flight_number: null },
        after: { flight_number: 'BW 485' },
        remarks: 'Told by phone',
      },
    ]);
  });

  test('a new number determines the prefix, whatever prefix is sent', async () => {
    await update(id, { awb_number: '810-12345670', airline_prefix: '106' }).ok();
    expect(await infoOf(id)).toMatchObject({
      awb_number: '810-12345670',
      airline_prefix: '810',
      notes: 'First',
    });
    expect((await db.auditOf(id))[1]?.after).toMatchObject({ airline: 'Amerijet International' });
    const lettered = await update(id, { awb_number: 'X1' }).ok();
    expect(lettered.data.awb_check).toBe('not_checked');
    expect(await infoOf(id)).toMatchObject({ awb_number: 'X1', airline_prefix: null });
    await update(id, { airline_prefix: '023' }).ok();
    expect(await infoOf(id)).toMatchObject({ awb_number: 'X1', airline_prefix: '023' });
  });

  test('blank text clears a field', async () => {
    await update(id, { awb_number: '', notes: ' ' }).ok();
    expect(await infoOf(id)).toMatchObject({ awb_number: null, airline_prefix: null, notes: null });
  });

  test('writes nothing if there is no change', async () => {
    const before = await db.manifest(id);
    const fields = { awb_number: '106-12345675', flight_date: '2026-12-01', notes: 'First' };
    for (const changes of [{}, { remarks: 'Nothing' }, { ...fields, status: 'draft' as const }])
      expect((await update(id, changes).ok()).data).toMatchObject({ status: 'draft' });
    expect(await db.manifest(id)).toEqual(before);
    expect(await db.auditOf(id)).toHaveLength(1);
  });

  test('accepts changes of fields on a completed manifest', async () => {
    await db.query("update manifests set status = 'completed' where id = $1", [id]);
    await update(id, { notes: 'Arrived late' }).ok();
    expect(await infoOf(id)).toMatchObject({ status: 'completed', notes: 'Arrived late' });
  });

  test('rejects invalid dates, prefixes and statuses with 400 and changes nothing', async () => {
    const before = await db.manifest(id);
    const bad = [
      { flight_date: '2026-02-30' },
      { airline_prefix: 'ABC' },
      { status: 'lost' },
      { awb_number: '1'.repeat(21) },
    ];
    for (const changes of bad) {
      const body = { action: 'update_meta', manifest_id: id, ...changes };
      const call = api.as('warehouse').manageManifest(unchecked(body));
      const { errors } = await call.refused(400, 'validation_failed');
      expect(errors[0]?.field).toBe(Object.keys(changes)[0]);
    }
    expect(await db.manifest(id)).toEqual(before);
  });
});

describe('deleting a manifest', () => {
  const remove = (manifest_id: string) =>
    api.as('warehouse').manageManifest({ action: 'delete_manifest', manifest_id });

  test('removes an empty manifest permanently and audits it', async () => {
    const { id } = await draft([], { notes: 'By mistake' });
    const { message, data } = await remove(id).ok();
    expect({ message, data }).toMatchObject({ message: 'Manifest deleted.', data: { manifest_id: id } });
    expect(await db.all('manifests', { id })).toEqual([]);
    expect((await db.auditOf(id)).at(-1)).toMatchObject({
      action: 'manifest.deleted',
      before: { status: 'draft', notes: 'By mistake' },
      after: null,
    });
    await remove(id).refused(404, 'manifest_not_found');
  });

  test('is rejected while packages are on it', async () => {
    const { id } = await draft();
    await insertPackages(db, 1, { manifestId: id });
    await remove(id).refused(400, 'manifest_not_empty');
    expect(await db.auditOf(id)).toHaveLength(1);
  });

  // The foreign key alone refuses it too, but only after it has waited for the package.
  test('is rejected at once while another transaction holds a package on it', async () => {
    const { id } = await draft();
    const [packageId] = await insertPackages(db, 1, { manifestId: id });
    const holder = await service().owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from packages where id = $1 for update', [packageId]);
      await remove(id).refused(400, 'manifest_not_empty');
    } finally {
      // Closing the connection ends the transaction.
      holder.release(true);
    }
  });
});
