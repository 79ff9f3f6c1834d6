import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeManifests, STATUSES } from '../../support/manifests/manifest-calls.js';
import { insertPackages, PACKAGE_STATUSES, statusesOf } from '../../support/manifests/packages.js';
import {
  mailsOf as queuedMails,
  pendingDelivery,
  setWebhookUrls,
  waitingDeliveryQueues,
} from '../../support/receivers/outbound.js';

const { IEX, HRB } = DEMO.couriers;

const { api, db, service } = withService();
const { draft, update } = makeManifests(api);

beforeAll(() => setWebhookUrls(service().owner, [IEX, HRB]));

const infoOf = async (id: string) => (await api.as('admin').getManifest({ id }).ok()).data.info;

const byCourier = (a: { courier_id: string }, b: { courier_id: string }) =>
  a.courier_id < b.courier_id ? -1 : 1;

const mailsOf = (manifestId: string) => queuedMails(service().owner, manifestId);

const eventsOf = (packageId: string) =>
  db.query(
    `select previous_status, status, courier_id, actor_user_id from package_events where package_id = $1 order by id`,
    [packageId],
  );

describe('manifest status transitions', () => {
  const pairs = STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const));

  test.each(pairs)('follow the transition table from %s to %s', async (from, to) => {
    const { id } = await draft();
    const [mine] = await insertPackages(db, 1, { manifestId: id });
    await db.query('update manifests set status = $2 where id = $1', [id, from]);
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
    expect(await db.package(mine)).toMatchObject({ status: 'received' });
    expect(await mailsOf(id)).toEqual([]);
  });

  test('create mails, package statuses, events, webhooks and audit entries once each from draft to completed', async () => {
    const ours = await insertPackages(db, 3);
    const theirs = await insertPackages(db, 2, { courierId: HRB });
    const unowned = await insertPackages(db, 1, { courierId: null });
    const all = [...ours, ...theirs, ...unowned];
    const { id, number } = await draft(all);

    await update(id, { status: 'ready', remarks: 'Counted' }).ok();
    expect(await statusesOf(db, all)).toEqual(['received']);
    expect((await mailsOf(id)).sort(byCourier)).toEqual(
      [mail(IEX, 'ready'), mail(HRB, 'ready')].sort(byCourier),
    );
    expect(await db.eventsOf(all)).toEqual([]);

    await update(id, { status: 'shipped' }).ok();
    expect(await statusesOf(db, all)).toEqual(['shipped']);
    await update(id, { status: 'shipped' }).ok();
    await update(id, { status: 'completed' }).ok();
    expect(await statusesOf(db, all)).toEqual(['delivered']);
    expect(await mailsOf(id)).toHaveLength(6);

    for (const [packageId, courierId] of [
      [ours[0], IEX],
      [theirs[0], HRB],
      [unowned[0], null],
    ] as const) {
      expect(await eventsOf(packageId)).toEqual([
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
    const webhooks = await db.eventsOf(all);
    expect(webhooks).toHaveLength(10);
    for (const { type, courier_id, deliveries } of webhooks) {
      expect(type).toBe('package.status_changed');
      expect(deliveries).toEqual(pendingDelivery(courier_id, 'update_package'));
    }
    for (const courierId of [IEX, HRB])
      expect(await waitingDeliveryQueues(service().owner, courierId)).toEqual(['update_package']);
    // The customer is unknown, so the courier gets a masked number.
    const { tracking_number: stored, house_number } = await db.package(ours[0]);
    const tracking_number = '*'.repeat(stored.length - 4) + stored.slice(-4);
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
          prealert_id: null,
          reference: null,
        },
      ]),
    );
    expect((await db.auditOf(id)).slice(1)).toMatchObject([
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
    const { id } = await draft();
    const packages = new Map<string, string>();
    for (const status of PACKAGE_STATUSES) {
      const [packageId] = await insertPackages(db, 1, { status, manifestId: id });
      packages.set(status, packageId);
    }
    const statuses = async () => {
      const found = [...packages].map(async ([was, each]) => [was, (await db.package(each)).status]);
      return Object.fromEntries(await Promise.all(found));
    };
    const unchanged = Object.fromEntries(PACKAGE_STATUSES.map((status) => [status, status]));
    await update(id, { status: 'ready' }).ok();
    expect(await statuses()).toEqual(unchanged);
    await update(id, { status: 'shipped' }).ok();
    expect(await statuses()).toEqual({ ...unchanged, received: 'shipped' });
    expect(await db.eventsOf([...packages.values()])).toHaveLength(1);
    await update(id, { status: 'completed' }).ok();
    const delivered = { received: 'delivered', shipped: 'delivered', in_transit: 'delivered' };
    expect(await statuses()).toEqual({ ...unchanged, ...delivered });
    expect(await db.eventsOf([...packages.values()])).toHaveLength(4);
  });

  test('are possible for an empty manifest and send no mail', async () => {
    const { id } = await draft();
    for (const status of STATUSES.slice(1)) await update(id, { status }).ok();
    expect(await mailsOf(id)).toEqual([]);
  });
});
