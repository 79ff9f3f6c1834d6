import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import {
  eventsOf as newsOf,
  setWebhookUrls,
  mailsOf as queuedMails,
  pendingDelivery,
  waitingDeliveryQueues,
} from '../../support/receivers/outbound.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const STATUSES = ['draft', 'ready', 'shipped', 'completed'] as const;
const STAFF = ['admin', 'manager', 'warehouse'];
const PACKAGE_STATUSES = [
  'received',
  'shipped',
  'in_transit',
  'delivered',
  'on_hold',
  'customs_hold',
  'returned',
  'lost',
];
const LB_IN_KG = 0.45359237;

const { api, service } = withService();
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
}, 60_000);

const { IEX, HRB } = DEMO.couriers;
const demo = DEMO.tenants.demo;
const PACKAGE_OF_TWO = DEMO.packages.two[0] ?? '';

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
    expect(await row('manifests', manifest_id)).toMatchObject({
      tenant_id: demo,
      status: 'draft',
      awb_number: null,
      airline_prefix: null,
      warehouse_id: DEMO.warehouses.primary,
    });
  });

  test('stores a named warehouse and responds 404 identically to unknown and foreign ones', async () => {
    const named = await api.as('admin').createManifest({ warehouse_id: DEMO.warehouses.second }).ok();
    expect(await row('manifests', named.data.manifest_id)).toMatchObject({
      warehouse_id: DEMO.warehouses.second,
    });
    const before = await count('manifests');
    const replies = await Promise.all(
      [randomUUID(), DEMO.warehouses.two].map((warehouse_id) =>
        api.as('admin').createManifest({ warehouse_id }).answer(),
      ),
    );
    expectSameRefusal(replies, 404, 'warehouse_not_found');
    await manage({ action: 'create_manifest', warehouse_id: DEMO.warehouses.two }).refused(
      404,
      'warehouse_not_found',
    );
    expect(await count('manifests')).toBe(before);
  });

  test('stores the fields as sent, and airline_prefix only without a number', async () => {
    const sent = { flight_date: '2026-12-24', notes: 'Fragile', airline_prefix: '810' };
    const bare = await manage({ action: 'create_manifest', ...sent }).ok();
    expect(bare.body['timestamp']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(await infoOf(bare.data.manifest_id)).toMatchObject({
      ...sent,
      awb_number: null,
      status: 'draft',
    });
    const numbered = await manage({ action: 'create_manifest', ...sent, awb_number: '106-12345675' }).ok();
    expect(numbered.data.awb_check).toBe('valid');
    expect(await infoOf(numbered.data.manifest_id)).toMatchObject({ airline_prefix: '106' });
    const lettered = await manage({ action: 'create_manifest', ...sent, awb_number: 'AWB-1' }).ok();
    expect(await infoOf(lettered.data.manifest_id)).toMatchObject({ airline_prefix: null });
  });

  test('audits the user, the airline and the remarks', async () => {
    const body = { awb_number: '106-12345670', remarks: 'Evening flight' };
    const reply = await api.as('warehouse').createManifest(body).ok();
    expect(await auditOf(reply.data.manifest_id)).toEqual([
      {
        action: 'manifest.created',
        actor_id: DEMO.users.warehouse,
        request_id: reply.headers.get('x-request-id'),
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
    const reply = await api.as('admin').createManifest(body).ok();
    expect(reply.data.manifest_number).not.toBe(body.manifest_number);
    expect(await row('manifests', reply.data.manifest_id)).toMatchObject({
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
    const created = await api.as('admin').createManifest(otherFields).answer();
    const managed = await manage({
      action: 'create_manifest',
      flight_number: 485,
      remarks: { a: 1 },
      status: 'ready',
    }).answer();
    for (const reply of [created, managed]) {
      expect(reply.status).toBe(200);
      const info = await infoOf(reply.data.manifest_id);
      expect(info).toMatchObject({
        notes: null,
        flight_date: null,
        airline_prefix: null,
        flight_number: null,
      });
      expect(await auditOf(reply.data.manifest_id)).toMatchObject([{ remarks: null }]);
    }
  });

  const SHARE = rounds(40, 20);

  const NUMBERS = rounds(160, 300);

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
    const replies: Reply[] = [];
    for (let round = 0; round < NUMBERS / 20; round += 1) {
      replies.push(
        ...(await Promise.all(Array.from({ length: 20 }, () => api.as('admin').createManifest().answer()))),
      );
    }
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ body }) => body['data'].manifest_number)).size).toBe(NUMBERS);
  }, 60_000);
});

describe('updating fields', () => {
  let id: string;
  beforeEach(async () => {
    id = await newManifest({ awb_number: '106-12345675', flight_date: '2026-12-01', notes: 'First' });
  });

  test('changes only the given fields', async () => {
    const before = await row('manifests', id);
    const reply = await update(id, { flight_number: 'BW 485', remarks: 'Told by phone' }).answer();
    expect(reply).toMatchObject({
      status: 200,
      body: { data: { manifest_id: id, status: 'draft', awb_check: 'valid' } },
    });
    expect(await row('manifests', id)).toEqual({
      ...before,
      flight_number: 'BW 485',
      updated_at: expect.any(Date),
    });
    expect((await auditOf(id)).slice(1)).toMatchObject([
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
    expect((await auditOf(id))[1]?.['after']).toMatchObject({ airline: 'Amerijet International' });
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
    const before = await row('manifests', id);
    const same = { awb_number: '106-12345675', flight_date: '2026-12-01', notes: 'First', status: 'draft' };
    for (const body of [{}, { remarks: 'Nothing' }, same]) {
      expect(await update(id, body).answer()).toMatchObject({
        status: 200,
        body: { data: { status: 'draft' } },
      });
    }
    expect(await row('manifests', id)).toEqual(before);
    expect(await auditOf(id)).toHaveLength(1);
  });

  test('accepts changes of fields on a completed manifest', async () => {
    await service().owner.query("update manifests set status = 'completed' where id = $1", [id]);
    await update(id, { notes: 'Arrived late' }).ok();
    expect(await infoOf(id)).toMatchObject({ status: 'completed', notes: 'Arrived late' });
  });

  test('rejects invalid dates, prefixes and statuses with 400 and changes nothing', async () => {
    const before = await row('manifests', id);
    const bad = [
      { flight_date: '2026-02-30' },
      { airline_prefix: 'ABC' },
      { status: 'lost' },
      { awb_number: '1'.repeat(21) },
    ];
    for (const body of bad) {
      const reply = await update(id, body).refused(400, 'validation_failed');
      expect(reply.errors[0]?.field).toBe(Object.keys(body)[0]);
    }
    expect(await row('manifests', id)).toEqual(before);
  });
});

describe('manifest status transitions', () => {
  const pairs = STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const));

  test.each(pairs)('follow the transition table from %s to %s', async (from, to) => {
    const id = await newManifest();
    const [mine] = await makePackages(1, { manifestId: id, courierId: IEX });
    await service().owner.query('update manifests set status = $2 where id = $1', [id, from]);
    const change = update(id, { status: to, notes: 'Along with it' });
    const step = STATUSES.indexOf(to) - STATUSES.indexOf(from);
    if (step === 0 || step === 1) {
      expect((await change.ok()).data).toMatchObject({ status: to });
      expect(await infoOf(id)).toMatchObject({ status: to, notes: 'Along with it' });
      expect(await mailsOf(id)).toHaveLength(step);
      return;
    }
    const next = STATUSES[STATUSES.indexOf(from) + 1];
    const { message } = await change.refused(400, 'manifest_invalid_transition');
    expect(message).toBe(
      next
        ? `The manifest is ${from}. Its next status can only be: ${next}.`
        : `The manifest is ${from}. That status is final.`,
    );
    expect(await infoOf(id)).toMatchObject({ status: from, notes: null });
    expect(await row('packages', mine)).toMatchObject({ status: 'received' });
    expect(await mailsOf(id)).toEqual([]);
  });

  test('create mails, package statuses, events, webhooks and audit entries once each from draft to completed', async () => {
    const id = await newManifest();
    const ours = await makePackages(3, { courierId: IEX });
    const theirs = await makePackages(2, { courierId: HRB });
    const unowned = await makePackages(1, { courierId: null });
    const all = [...ours, ...theirs, ...unowned];
    await manage({ action: 'add_packages', manifest_id: id, package_ids: all }).ok();
    const number = (await row('manifests', id))['manifest_number'];

    await update(id, { status: 'ready', remarks: 'Counted' }).ok();
    expect(await packageStatuses(all)).toEqual(['received']);
    expect((await mailsOf(id)).sort(byCourier)).toEqual(
      [mail(IEX, 'ready'), mail(HRB, 'ready')].sort(byCourier),
    );
    expect(await packageWebhooksOf(all)).toEqual([]);

    await update(id, { status: 'shipped' }).ok();
    expect(await packageStatuses(all)).toEqual(['shipped']);
    await update(id, { status: 'shipped' }).ok();
    await update(id, { status: 'completed' }).ok();
    expect(await packageStatuses(all)).toEqual(['delivered']);
    expect(await mailsOf(id)).toHaveLength(6);

    for (const [packageId, courierId] of [
      [ours[0], IEX],
      [theirs[0], HRB],
      [unowned[0], null],
    ] as const) {
      const events = await eventsOf(packageId);
      expect(events).toEqual([
        {
          previous_status: 'received',
          status: 'shipped',
          courier_id: courierId,
          actor_user_id: DEMO.users.warehouse,
        },
        {
          previous_status: 'shipped',
          status: 'delivered',
          courier_id: courierId,
          actor_user_id: DEMO.users.warehouse,
        },
      ]);
    }
    const webhooks = await packageWebhooksOf(all);
    expect(webhooks).toHaveLength(10);
    for (const { type, courier_id, deliveries } of webhooks) {
      expect(type).toBe('package.status_changed');
      expect(deliveries).toEqual(pendingDelivery(courier_id, 'update_package'));
    }
    for (const courierId of [IEX, HRB])
      expect(await waitingDeliveryQueues(service().owner, courierId)).toEqual(['update_package']);
    // The customer is unknown, so the courier gets a masked number.
    const stored = String((await row('packages', ours[0]))['tracking_number']);
    const tracking_number = '*'.repeat(stored.length - 4) + stored.slice(-4);
    const { house_number } = await row('packages', ours[0]);
    expect(
      webhooks
        .filter(({ package_id }) => package_id === ours[0])
        .map(({ courier_id, data }) => [courier_id, data]),
    ).toEqual(
      [
        ['received', 'shipped'],
        ['shipped', 'delivered'],
      ].map(([previous_status, status]) => [
        IEX,
        {
          package_id: ours[0],
          tracking_number,
          house_number,
          user_code: null,
          previous_status,
          status,
          manifest_number: number,
        },
      ]),
    );
    expect((await auditOf(id)).slice(1)).toMatchObject([
      { action: 'manifest.packages_added' },
      {
        action: 'manifest.status_changed',
        before: { status: 'draft' },
        after: { status: 'ready' },
        remarks: 'Counted',
      },
      {
        action: 'manifest.status_changed',
        before: { status: 'ready' },
        after: { status: 'shipped' },
        remarks: null,
      },
      { action: 'manifest.status_changed', before: { status: 'shipped' }, after: { status: 'completed' } },
    ]);

    function mail(courier: string, status: string) {
      return { courier_id: courier, manifest_number: number, manifest_status: status, status: 'queued' };
    }
  });

  test('do not change packages that are on hold, left another way or have a final status', async () => {
    const id = await newManifest();
    const packages = new Map<string, string>();
    for (const status of PACKAGE_STATUSES) {
      const [packageId] = await makePackages(1, { courierId: IEX, status, manifestId: id });
      packages.set(status, packageId);
    }
    const statuses = async () => {
      const found = [...packages].map(async ([was, each]) => [was, (await row('packages', each))['status']]);
      return Object.fromEntries(await Promise.all(found));
    };
    const unchanged = Object.fromEntries(PACKAGE_STATUSES.map((status) => [status, status]));
    await update(id, { status: 'ready' }).ok();
    expect(await statuses()).toEqual(unchanged);
    await update(id, { status: 'shipped' }).ok();
    expect(await statuses()).toEqual({ ...unchanged, received: 'shipped' });
    expect(await packageWebhooksOf([...packages.values()])).toHaveLength(1);
    await update(id, { status: 'completed' }).ok();
    const delivered = { received: 'delivered', shipped: 'delivered', in_transit: 'delivered' };
    expect(await statuses()).toEqual({ ...unchanged, ...delivered });
    expect(await packageWebhooksOf([...packages.values()])).toHaveLength(4);
  });

  test('are possible for an empty manifest and send no mail', async () => {
    const id = await newManifest();
    for (const status of STATUSES.slice(1)) await update(id, { status }).ok();
    expect(await mailsOf(id)).toEqual([]);
  });
});

describe('adding and removing packages', () => {
  let id: string;
  beforeEach(async () => {
    id = await newManifest();
  });
  const add = (packageIds: string[], manifestId = id) =>
    manage({ action: 'add_packages', manifest_id: manifestId, package_ids: packageIds });
  const remove = (packageIds: string[], manifestId = id) =>
    manage({ action: 'remove_packages', manifest_id: manifestId, package_ids: packageIds });

  test('assigns packages, ignores repeated ones and counts an id once', async () => {
    const [first, second] = await makePackages(2);
    const once = await add([first, first.toUpperCase()]).answer();
    expect(once.body).toMatchObject({ message: '1 package added.', data: { manifest_id: id, added: 1 } });
    expect((await add([first, second]).ok()).data).toEqual({ manifest_id: id, added: 1 });
    expect((await add([first, second]).ok()).body).toMatchObject({
      message: '0 packages added.',
      data: { added: 0 },
    });
    expect(await row('packages', second)).toMatchObject({ manifest_id: id, status: 'received' });
    expect((await auditOf(id)).slice(1)).toMatchObject([
      { action: 'manifest.packages_added', after: { package_ids: [first] } },
      { action: 'manifest.packages_added', after: { package_ids: [second] } },
    ]);
  });

  test('the webhook contains the full number of a package with a known customer', async () => {
    const [known] = await makePackages(1, { userCode: 'IEX-1001' });
    await add([known]).ok();
    for (const status of ['ready', 'shipped']) await update(id, { status }).ok();
    const [webhook] = await packageWebhooksOf([known]);
    const { tracking_number } = await row('packages', known);
    expect(webhook?.data).toMatchObject({ tracking_number, user_code: 'IEX-1001' });
  });

  test('rejects all packages if one cannot be added, and names each with the reason', async () => {
    const other = await newManifest();
    const [free, taken] = await makePackages(2);
    const unavailable: string[] = [];
    for (const status of PACKAGE_STATUSES.slice(1)) unavailable.push(...(await makePackages(1, { status })));
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
    expect(await row('packages', free)).toMatchObject({ manifest_id: null });
    expect(await row('packages', taken)).toMatchObject({ manifest_id: other });
    expect(await auditOf(id)).toHaveLength(1);
  });

  test('responds identically to unknown and foreign packages, before any other error', async () => {
    const [free] = await makePackages(1);
    const [shipped] = await makePackages(1, { status: 'shipped' });
    const foreign = PACKAGE_OF_TWO;
    const unknown = randomUUID();
    for (const call of [add, remove]) {
      const replies = [
        await call([free, shipped, foreign]).answer(),
        await call([free, shipped, unknown]).answer(),
      ];
      const texts = replies.map(({ body }) => JSON.stringify({ ...body, request_id: '', timestamp: 0 }));
      expect(texts[0]?.replaceAll(foreign, unknown)).toBe(texts[1]);
      expect(replies[1]).toMatchObject({ status: 404, body: { code: 'package_not_found' } });
      expect(replies[1]?.body['errors']).toEqual([
        { field: 'package_ids[2]', code: 'not_found', message: `Package ${unknown} does not exist.` },
      ]);
    }
    expect(await row('packages', free)).toMatchObject({ manifest_id: null });
    expect(await row('packages', foreign)).toMatchObject({ manifest_id: null });
  });

  test('frees removed packages, all or none', async () => {
    const [first, second, outside] = await makePackages(3);
    await add([first, second]).ok();
    const refused = await remove([first, outside]).refused(400, 'packages_not_assignable');
    expect(refused.errors).toEqual([
      {
        field: 'package_ids[1]',
        code: 'not_on_manifest',
        message: `Package ${outside} is not on this manifest.`,
      },
    ]);
    expect(await row('packages', first)).toMatchObject({ manifest_id: id });
    const reply = await remove([first, second, first]).answer();
    expect(reply.body).toMatchObject({
      message: '2 packages removed.',
      data: { manifest_id: id, removed: 2 },
    });
    expect(await row('packages', first)).toMatchObject({ manifest_id: null, status: 'received' });
    expect((await auditOf(id)).at(-1)).toMatchObject({
      action: 'manifest.packages_removed',
      after: { package_ids: [first, second].sort() },
    });
    const other = await newManifest();
    expect((await add([first, second], other).ok()).data.added).toBe(2);
  });

  test.each(STATUSES)('is possible only while the manifest is draft or ready: %s', async (status) => {
    const [aboard] = await makePackages(1, { manifestId: id });
    const [free] = await makePackages(1);
    await service().owner.query('update manifests set status = $2 where id = $1', [id, status]);
    const replies = [
      await add([free]).answer(),
      await remove([aboard]).answer(),
      await add([randomUUID()]).answer(),
    ];
    if (status === 'draft' || status === 'ready') {
      expect(replies.map((reply) => reply.status)).toEqual([200, 200, 404]);
      return;
    }
    expect(replies.map(({ body }) => body['code'])).toEqual(Array(3).fill('manifest_closed'));
    expect(replies[0]?.body['message']).toContain(status);
    expect(await row('packages', free)).toMatchObject({ manifest_id: null });
    expect(await row('packages', aboard)).toMatchObject({ manifest_id: id });
  });

  const MANY = rounds(1_000, 10_000);

  test(`handles ${MANY} packages within ${MANY / 1_000} seconds per call`, async () => {
    const packages = await makePackages(MANY, { courierId: IEX });
    // Autovacuum does this after a minute. Before, foreign keys are checked with a plan for a table of 500 rows.
    await service().owner.query('analyze packages');
    const took: number[] = [];
    const timed = async (call: () => Promise<Reply>) => {
      const start = performance.now();
      expect((await call()).status).toBe(200);
      took.push(performance.now() - start);
    };
    await timed(() => add(packages).answer());
    await timed(() => remove(packages).answer());
    await timed(() => add(packages).answer());
    for (const status of STATUSES.slice(1)) await timed(() => update(id, { status }).answer());
    expect(Math.max(...took)).toBeLessThan(MANY);
    expect(await packageStatuses(packages)).toEqual(['delivered']);
    const { rows } = await service().owner.query(
      `select count(*)::int as events, count(distinct e.package_id)::int as packages
       from package_events e join packages p on p.id = e.package_id where p.manifest_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ events: 2 * MANY, packages: MANY }]);
    expect(await add(Array.from({ length: 10_001 }, () => randomUUID())).answer()).toMatchObject({
      status: 400,
    });
    expect(await add([]).answer()).toMatchObject({ status: 400 });
  }, 60_000);
});

describe('deleting a manifest', () => {
  test('removes an empty manifest permanently and audits it', async () => {
    const id = await newManifest({ notes: 'By mistake' });
    const reply = await manage({ action: 'delete_manifest', manifest_id: id }).answer();
    expect(reply.body).toMatchObject({ message: 'Manifest deleted.', data: { manifest_id: id } });
    expect(await row('manifests', id)).toBeUndefined();
    expect((await auditOf(id)).at(-1)).toMatchObject({
      action: 'manifest.deleted',
      before: { status: 'draft', notes: 'By mistake' },
      after: null,
    });
    expect(await manage({ action: 'delete_manifest', manifest_id: id }).answer()).toMatchObject({
      status: 404,
    });
  });

  test('is rejected while packages are on it', async () => {
    const id = await newManifest();
    await makePackages(1, { manifestId: id });
    await manage({ action: 'delete_manifest', manifest_id: id }).refused(400, 'manifest_not_empty');
    expect(await auditOf(id)).toHaveLength(1);
  });

  // The foreign key alone refuses it too, but only after it has waited for the package.
  test('is rejected at once while another transaction holds a package on it', async () => {
    const id = await newManifest();
    const [packageId] = await makePackages(1, { manifestId: id });
    const holder = await service().owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from packages where id = $1 for update', [packageId]);
      await manage({ action: 'delete_manifest', manifest_id: id }).refused(400, 'manifest_not_empty');
    } finally {
      // Closing the connection ends the transaction.
      holder.release(true);
    }
  });
});

describe('reading a manifest', () => {
  let id: string;
  const packages: Record<'iex' | 'masked' | 'hrb' | 'nobody', string> = {
    iex: '',
    masked: '',
    hrb: '',
    nobody: '',
  };
  beforeAll(async () => {
    id = await newManifest({
      awb_number: '106-12345675',
      flight_date: '2026-12-01',
      notes: 'Seen by all aboard',
    });
    const aboard = { manifestId: id };
    [packages.nobody] = await makePackages(1, {
      ...aboard,
      courierId: null,
      weightLb: '0.1',
      receivedAt: '2026-11-04',
    });
    [packages.hrb] = await makePackages(1, {
      ...aboard,
      courierId: HRB,
      weightLb: '0.2',
      receivedAt: '2026-11-03',
    });
    [packages.iex] = await makePackages(1, {
      ...aboard,
      courierId: IEX,
      userCode: 'IEX-1001',
      weightLb: '10.125',
      receivedAt: '2026-11-02',
    });
    [packages.masked] = await makePackages(1, {
      ...aboard,
      courierId: IEX,
      weightLb: '0.7',
      receivedAt: '2026-11-01',
    });
  });

  test.each(STAFF)('%s sees everything in the order of receipt', async (as) => {
    const reply = await read(id, as).ok();
    const { info, packages: cargo, stats } = reply.data;
    expect(reply.message).toBe(`Manifest ${info.manifest_number}.`);
    expect(info).toEqual({
      manifest_id: id,
      manifest_number: expect.stringMatching(/^MAN-\d{8}-[A-Z0-9]{4}$/),
      awb_number: '106-12345675',
      airline_prefix: '106',
      flight_date: '2026-12-01',
      flight_number: null,
      status: 'draft',
      notes: 'Seen by all aboard',
      loading_gate: 'warehouse',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      warehouse_id: DEMO.warehouses.primary,
    });
    const order = [packages.masked, packages.iex, packages.hrb, packages.nobody];
    expect(cargo.map((each: { package_id: string }) => each.package_id)).toEqual(order);
    const stored = await row('packages', packages.iex);
    expect(cargo[1]).toEqual({
      package_id: packages.iex,
      tracking_number: stored['tracking_number'],
      house_number: stored['house_number'],
      weight: 10.125,
      first_name: 'Ann',
      last_name: 'Bell',
      user_code: 'IEX-1001',
      courier_name: 'Island Express',
      courier_code: 'IEX',
      carrier_name: null,
    });
    expect(cargo[0]?.tracking_number).not.toContain('*');
    expect(stats).toEqual({
      total_count: 4,
      total_weight_lb: 11.125,
      total_weight_kg: 5.046,
      by_courier: {
        IEX: { count: 2, weight: 10.825, house_color: '#0A7D5C' },
        HRB: { count: 1, weight: 0.2, house_color: '#1F4E9E' },
        UNKNOWN: { count: 1, weight: 0.1, house_color: null },
      },
    });
  });

  test('a courier sees its own packages and totals, with numbers of unknown customers masked', async () => {
    const { packages: cargo, stats, info } = (await read(id, 'iex').ok()).data;
    expect(info).toMatchObject({ manifest_id: id, notes: 'Seen by all aboard' });
    const masked = String((await row('packages', packages.masked))['tracking_number']);
    const known = (await row('packages', packages.iex))['tracking_number'];
    expect(cargo.map((each: { tracking_number: string }) => each.tracking_number)).toEqual([
      '*'.repeat(masked.length - 4) + masked.slice(-4),
      known,
    ]);
    expect(stats).toEqual({
      total_count: 2,
      total_weight_lb: 10.825,
      total_weight_kg: 4.91,
      by_courier: { IEX: { count: 2, weight: 10.825, house_color: '#0A7D5C' } },
    });
    const siblings = JSON.stringify((await read(id, 'hrb').ok()).body);
    for (const hidden of [packages.iex, packages.masked, packages.nobody, 'IEX'])
      expect(siblings).not.toContain(hidden);
  });

  test('responds 404 identically to unknown manifests, foreign ones and those without own packages', async () => {
    const empty = await newManifest();
    const onlyTheirs = await newManifest();
    await makePackages(1, { manifestId: onlyTheirs, courierId: HRB });
    await makePackages(1, { manifestId: onlyTheirs, courierId: null });
    const replies = [randomUUID(), empty, onlyTheirs].map((each) => read(each, 'iex').answer());
    expectSameRefusal(await Promise.all(replies), 404, 'manifest_not_found');
    const foreign = [
      await read(id, 'two/admin').answer(),
      await read(id, 'two/two').answer(),
      await read(randomUUID(), 'admin').answer(),
    ];
    expectSameRefusal(foreign, 404, 'manifest_not_found');
  });

  test('returns zero totals for an empty manifest', async () => {
    const { packages: cargo, stats } = (await read(await newManifest(), 'admin').ok()).data;
    expect(cargo).toEqual([]);
    expect(stats).toEqual({ total_count: 0, total_weight_lb: 0, total_weight_kg: 0, by_courier: {} });
  });

  test('returns 2,000 packages in one response with exact totals', async () => {
    const full = await newManifest();
    await makePackages(2_000, { manifestId: full, courierId: IEX });
    const { packages: cargo, stats } = (await read(full, 'admin').ok()).data;
    expect(cargo).toHaveLength(2_000);
    const thousandths = cargo.reduce(
      (sum: number, { weight }: { weight: number }) => sum + Math.round(weight * 1000),
      0,
    );
    expect(stats.total_weight_lb).toBe(thousandths / 1000);
    expect(stats.total_weight_kg).toBeCloseTo((thousandths / 1000) * LB_IN_KG, 2);
    expect(stats.by_courier.IEX).toMatchObject({ count: 2_000, weight: thousandths / 1000 });
  });

  test('requires id to be a UUID', async () => {
    const queries: Record<string, string | string[]>[] = [{}, { id: 'x' }, { id: '' }, { id: [id, id] }];
    for (const query of queries) {
      const reply = await api.as('admin').getManifest(unchecked(query)).refused(400, 'validation_failed');
      expect(reply.errors[0]?.field).toContain('id');
    }
  });
});

describe('access to manifests', () => {
  const actions = (id: string, packageId: string) => [
    { action: 'create_manifest' },
    { action: 'update_meta', manifest_id: id, status: 'ready' },
    { action: 'add_packages', manifest_id: id, package_ids: [packageId] },
    { action: 'remove_packages', manifest_id: id, package_ids: [packageId] },
    { action: 'delete_manifest', manifest_id: id },
  ];

  test('rejects every change by a courier with 403', async () => {
    const id = await newManifest();
    const [packageId] = await makePackages(1, { manifestId: id, courierId: IEX });
    const before = await count('manifests');
    for (const as of ['iex', 'hrb']) {
      await api.as(as).createManifest().refused(403, 'permission_denied');
      for (const body of actions(id, packageId)) {
        await api.as(as).manageManifest(unchecked(body)).refused(403, 'permission_denied');
      }
    }
    expect(await row('manifests', id)).toMatchObject({ status: 'draft' });
    expect(await count('manifests')).toBe(before);
  });

  test.each(STAFF)('%s may use every action', async (as) => {
    const id = await newManifest();
    const [packageId] = await makePackages(1);
    for (const body of actions(id, packageId))
      expect(await manage(body, as).answer()).toMatchObject({ status: 200 });
  });

  test('rejects disabled accounts with 403 and anonymous callers with 401', async () => {
    for (const operation of ['createManifest', 'manageManifest', 'getManifest'] as const) {
      const call =
        operation === 'getManifest'
          ? { query: { id: randomUUID() } }
          : { body: { action: 'create_manifest' } };
      expect(await service().call(operation, { as: 'disabled', ...call })).toMatchObject({ status: 403 });
      expect(await service().call(operation, call)).toMatchObject({
        status: 401,
        body: { code: 'token_missing' },
      });
    }
  });

  test('responds to every action on a foreign manifest as on an unknown one, and changes nothing', async () => {
    const id = await newManifest();
    const before = await row('manifests', id);
    const foreign = actions(id, PACKAGE_OF_TWO).slice(1);
    const unknown = actions(randomUUID(), PACKAGE_OF_TWO).slice(1);
    for (const [index, body] of foreign.entries()) {
      const replies = [
        await manage(body, 'two/admin').answer(),
        await manage(unknown[index] ?? {}, 'two/admin').answer(),
      ];
      expectSameRefusal(replies, 404, 'manifest_not_found');
    }
    expect(await row('manifests', id)).toEqual(before);
  });

  test('rejects an unknown action and a missing manifest_id or package_ids with 400', async () => {
    const id = await newManifest();
    const bodies = [
      { action: 'explode' },
      {},
      { action: 'update_meta' },
      { action: 'delete_manifest' },
      { action: 'add_packages', manifest_id: id },
      { action: 'remove_packages', package_ids: [randomUUID()] },
      { action: 'add_packages', manifest_id: id, package_ids: ['x'] },
    ];
    for (const body of bodies) await manage(body).refused(400, 'validation_failed');
  });
});

function manage(body: unknown, as = 'warehouse') {
  return api.as(as).manageManifest(unchecked(body));
}

function update(id: string, fields: Record<string, unknown>) {
  return manage({ action: 'update_meta', manifest_id: id, ...fields });
}

function read(id: string, as: string) {
  return api.as(as).getManifest({ id });
}

async function newManifest(fields: Record<string, unknown> = {}): Promise<string> {
  const reply = await manage({ action: 'create_manifest', ...fields }).ok();
  return reply.data.manifest_id;
}

async function infoOf(id: string): Promise<Record<string, unknown>> {
  return (await read(id, 'admin').ok()).data.info;
}

type PackageOptions = {
  courierId?: string | null;
  userCode?: string;
  status?: string;
  manifestId?: string;
  weightLb?: string;
  receivedAt?: string;
};

/** As many ids as requested. Tests use the first few without a check. */
type Ids = [string, string, string, ...string[]];

let packagesMade = 0;

async function makePackages(many: number, options: PackageOptions = {}): Promise<Ids> {
  packagesMade += many;
  const { courierId = IEX, userCode = null, status = 'received', manifestId = null } = options;
  const { rows } = await service().owner.query(
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
       house_number, weight_lb, status, warehouse_id, manifest_id, received_at)
     select $1, gen_random_uuid(), $2, $3::text, case when $3::text is not null then 'Ann' end,
       case when $3::text is not null then 'Bell' end, 'TEST' || n, 'TEST' || n, 'T' || n,
       coalesce($4::numeric, 1 + n % 997 * 0.013), $5, $6, $7, coalesce($8::timestamptz, now())
     from generate_series($9::int + 1, $9::int + $10::int) as n
     returning id`,
    [
      demo,
      courierId,
      userCode,
      options.weightLb ?? null,
      status,
      DEMO.warehouses.primary,
      manifestId,
      options.receivedAt ?? null,
      1_000_000 + packagesMade - many,
      many,
    ],
  );
  // The statement inserted this many rows.
  return rows.map(({ id }) => String(id)) as Ids;
}

async function row(table: string, id: string): Promise<Record<string, unknown>> {
  return (await service().owner.query(`select * from ${table} where id = $1`, [id])).rows[0];
}

async function count(table: string): Promise<number> {
  return (await service().owner.query(`select count(*)::int as n from ${table}`)).rows[0].n;
}

async function auditOf(id: string): Promise<Record<string, unknown>[]> {
  const { rows } = await service().owner.query(
    `select action, actor_id, request_id, remarks, before, after from audit_entries
     where entity = 'manifest' and entity_id = $1 order by id`,
    [id],
  );
  return rows;
}

const byCourier = (a: { courier_id: string }, b: { courier_id: string }) =>
  a.courier_id < b.courier_id ? -1 : 1;

const mailsOf = (manifestId: string) => queuedMails(service().owner, manifestId);
const packageWebhooksOf = (packageIds: readonly string[]) => newsOf(service().owner, packageIds);

async function eventsOf(packageId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await service().owner.query(
    `select previous_status, status, courier_id, actor_user_id from package_events where package_id = $1 order by id`,
    [packageId],
  );
  return rows;
}

async function packageStatuses(packageIds: readonly string[]): Promise<string[]> {
  const { rows } = await service().owner.query('select distinct status from packages where id = any($1)', [
    packageIds,
  ]);
  return rows.map(({ status }) => status);
}

/** Asserts that all responses are identical except for request id and time. */
function expectSameRefusal(replies: Reply[], status: number, code: string): void {
  for (const reply of replies) expect(reply).toMatchObject({ status, body: { code } });
  const texts = replies.map(({ body }) => JSON.stringify({ ...body, request_id: '', timestamp: 0 }));
  expect(new Set(texts).size).toBe(1);
}
