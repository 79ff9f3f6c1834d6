import { describe, expect, test } from '@jest/globals';
import { BACKGROUND } from '../../../../src/platform/audit/audit.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { emitPackageEvents } from '../../../../src/modules/webhooks/events/events.js';
import { whileInactive } from '../../../support/harness/inactive-courier.js';
import { bundle } from '../../../support/service/contract.js';
import { rounds } from '../../../support/harness/effort.js';
import { emptyQueue, pendingDelivery, waitingDeliveryQueues } from '../../../support/receivers/outbound.js';
import { assertEventData, assertPayload, webhookTypes } from '../../../support/receivers/webhook-payloads.js';
import { statusesOf, withSimultaneousChanges } from './simultaneous-changes.js';
import { recordEvents, system } from './record-events.js';

const { IEX, HRB } = DEMO.couriers;
const { demo } = DEMO.tenants;

describe('webhooks in the contract', () => {
  // The bundle has the webhooks next to its paths.
  const { webhooks } = bundle as unknown as { webhooks: Record<string, { post: { requestBody: Body } }> };
  type Body = { content: { 'application/json': { example: Record<string, unknown> } } };
  const examples = Object.values(webhooks)
    .map(({ post }) => post.requestBody.content['application/json'].example)
    // flat-packages.test.ts checks the others.
    .filter((example) => 'type' in example);

  test('each type has a valid example', () => {
    expect(examples.map(({ type }) => type).sort()).toEqual([...webhookTypes].sort());
    for (const example of examples) {
      assertPayload(String(example['type']), example);
      assertEventData(String(example['type']), example['data']);
    }
  });

  test('the validation rejects extra fields, missing fields and the data of another type', () => {
    for (const example of examples) {
      const type = String(example['type']);
      // The data is an object in every example.
      const data = example['data'] as Record<string, unknown>;
      const [first = ''] = Object.keys(data);
      const { [first]: _left, ...less } = data;
      for (const wrong of [{ ...data, courier_id: IEX }, less, { ...data, [first]: 1 }]) {
        expect(() => assertEventData(type, wrong)).toThrow(type);
        expect(() => assertPayload(type, { ...example, data: wrong })).toThrow(type);
      }
      expect(() => assertPayload(type, { ...example, courier_id: IEX })).toThrow(type);
      const other = examples.find((each) => each['type'] !== type);
      expect(() => assertPayload(type, other)).toThrow(type);
    }
  });
});

const { db, service, receive, dispatch, manage, ship, addPackages, loadManifest, readFeeds, expectNoGap } =
  withSimultaneousChanges();

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Records events and then fails, while the counters are locked. */
async function recordAndFail(packageIds: string[]): Promise<void> {
  const changes = packageIds.map((packageId) => ({ packageId }));
  const ctx = makeContext(service().db, system(demo), BACKGROUND);
  const outcome = await ctx
    .write(async (tx) => {
      await emitPackageEvents(tx, 'package.created', changes);
      throw new Error('in vain');
    })
    .catch((error: unknown) => messageOf(error));
  // The transaction got no connection within 2 seconds and did nothing, like a 503. Try again.
  if (/Unable to start a transaction|temporarily unavailable/.test(outcome)) return recordAndFail(packageIds);
  expect(outcome).toBe('in vain');
}

describe('event sequences', () => {
  const INTAKES = rounds(30, 200);

  test(`have no gap at any moment during ${INTAKES} intakes of 2 couriers, a shipped manifest and 40 failing transactions`, async () => {
    const ours = await addPackages(10, IEX);
    const theirs = await addPackages(10, HRB);
    const manifestId = await loadManifest([...ours, ...theirs]);
    const before = await readFeeds();
    const watch = { isOver: false, moments: 0 };
    // A reader at number n has seen all events before it: later commits have higher numbers.
    const watching = (async () => {
      for (; !watch.isOver; watch.moments += 1) await expectNoGap();
    })();
    const [replies, shipping] = await Promise.all([
      Promise.all(Array.from({ length: INTAKES }, (_, index) => receive(index % 2 ? IEX : HRB))),
      ship(manifestId),
      ...Array.from({ length: 40 }, (_, index) =>
        recordAndFail(index % 2 ? [...ours, ...theirs] : [...theirs, ...ours].slice(0, 1 + (index % 15))),
      ),
    ]).finally(() => (watch.isOver = true));
    await watching;
    expect([statusesOf(replies), shipping.status]).toEqual([[201], 200]);
    expect(watch.moments).toBeGreaterThan(10);
    await expectNoGap();
    const grown = (await readFeeds()).map(({ courier_id, events }) => [
      courier_id,
      events - (before.find((each) => each.courier_id === courier_id)?.events ?? 0),
    ]);
    expect(new Map(grown as [string, number][])).toEqual(
      new Map([IEX, HRB].map((id) => [id, INTAKES / 2 + 10])),
    );
    const received = replies.map(({ data }) => data.package_id);
    for (const { courier_id, type, deliveries } of await db.eventsOf(received))
      expect([type, deliveries]).toEqual(['package.created', pendingDelivery(courier_id, 'add_package')]);
    expect(await db.eventsOf(received)).toHaveLength(INTAKES);
    expect(await db.eventsOf([...ours, ...theirs], 'package.created')).toEqual([]);
    for (const courierId of [IEX, HRB])
      expect((await waitingDeliveryQueues(service().owner, courierId)).sort()).toEqual([
        'add_package',
        'update_package',
      ]);
  }, 60_000);

  test('number the events of one package in the order in which they happened', async () => {
    const { data: received } = await receive(IEX);
    const packageId = received.package_id;
    const manifestId = await loadManifest([packageId]);
    await ship(manifestId);
    await manage({ action: 'update_meta', manifest_id: manifestId, status: 'completed' });
    const webhookEvents = await db.eventsOf(packageId);
    expect(webhookEvents.map(({ type, data }) => [type, data['previous_status'], data['status']])).toEqual([
      ['package.created', undefined, 'received'],
      ['package.status_changed', 'received', 'shipped'],
      ['package.status_changed', 'shipped', 'delivered'],
    ]);
  });

  test('keep the order given within one transaction', async () => {
    const ids = (await addPackages(12, IEX)).reverse();
    const changes = ids.map((packageId) => ({ packageId }));
    await recordEvents(service().db, demo, 'package.updated', changes);
    expect((await db.eventsOf(ids)).map(({ package_id }) => package_id)).toEqual(ids);
  });

  test('a failed transaction leaves no event, delivery or number and wakes no delivery queue', async () => {
    const ids = await addPackages(3, HRB);
    await emptyQueue(service().owner);
    const before = await readFeeds();
    await recordAndFail(ids);
    expect(await readFeeds()).toEqual(before);
    expect(await waitingDeliveryQueues(service().owner, HRB)).toEqual([]);
    expect(await db.all('events', { package_id: ids })).toEqual([]);
  });

  test('a package without a courier creates no event', async () => {
    const ids = await addPackages(2, null);
    const changes = ids.map((packageId) => ({ packageId }));
    const before = await readFeeds();
    await recordEvents(service().db, demo, 'package.created', changes);
    expect(await readFeeds()).toEqual(before);
  });

  test('a disabled courier and a paused URL get the event but no delivery', async () => {
    const [first = '', second = ''] = await addPackages(2, HRB);
    const record = (packageId: string) =>
      recordEvents(service().db, demo, 'package.created', [{ packageId }]);
    await db.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, paused_at) values ($1, $2, 'add_package', now())`,
      [demo, HRB],
    );
    await record(first);
    await db.query('delete from webhook_endpoints');
    await whileInactive(service().owner, HRB, () => record(second));
    expect((await db.eventsOf([first, second])).map(({ deliveries }) => deliveries)).toEqual([[], []]);
  });
});

test('waiting jobs contain only ids and task names, and no tenant data', async () => {
  const [packageId = ''] = await addPackages(1, IEX);
  await receive(HRB);
  await ship(await loadManifest([packageId]));
  await dispatch({ package_ids: [packageId] });
  const rows = await db.query<{
    task: string;
    payload: object;
    key: string | null;
    queue: string | null;
  }>(
    `select identifier as task, payload, key, queue_name as queue from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id
     left join graphile_worker._private_job_queues q on q.id = j.job_queue_id`,
  );
  expect(new Set(rows.map(({ task }) => task))).toEqual(new Set(['deliver', 'sendManifestMail']));
  for (const { payload, key, queue } of rows) {
    const words = [
      ...Object.values(payload).map(String),
      ...[key, queue].flatMap((name) => name?.split(':') ?? []),
    ];
    for (const word of words) expect(word).toMatch(/^([0-9a-f-]{36}|deliver|add_package|update_package)$/);
  }
});
