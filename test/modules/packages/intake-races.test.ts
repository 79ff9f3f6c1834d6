import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import {
  emptyQueue,
  eventsOf,
  setWebhookUrls,
  pendingDelivery,
  waitingDeliveryQueues,
} from '../../support/receivers/outbound.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;
const SCANNERS = rounds(60, 200);
const SCAN_ROUNDS = rounds(1, 10);
const PREALERT_ROUNDS = rounds(8, 100);

const { api, service } = withService({ poolSize: 60 });
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
}, 60_000);

const receive = (body: object) =>
  untilAdmitted(() =>
    api
      .as('warehouse')
      .receivePackage(unchecked({ weight: 1, ...body }))
      .answer(),
  );

const announce = (courier: 'IEX' | 'HRB', number: string) =>
  api
    .withKey(DEMO.apiKeys[courier])
    .submitPrealert({ UserCode: courier === 'IEX' ? 'IEX-1001' : 'HRB-2001', TrackingNumber: number });

const withStatus = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status);

/** Returns the packages with this tracking number and their pre-alerts. */
async function storedParcel(number: string) {
  const { rows: packages } = await service().owner.query(
    'select id, courier_id, user_code, prealert_id from packages where tracking_key = $1 and tenant_id = $2',
    [number, DEMO.tenants.demo],
  );
  const { rows: prealerts } = await service().owner.query(
    'select id, courier_id, status from prealerts where tracking_key = $1 and tenant_id = $2',
    [number, DEMO.tenants.demo],
  );
  return { packages, prealerts };
}

test(`of ${SCANNERS} simultaneous scans, one stores the package and the others return it`, async () => {
  for (let round = 0; round < SCAN_ROUNDS; round += 1) {
    await emptyQueue(service().owner);
    const number = `RACE${round}`;
    const body = { tracking_number: number, user_code: 'IEX-1001' };
    const replies = await Promise.all(Array.from({ length: SCANNERS }, () => receive(body)));
    const [winners, others] = [withStatus(replies, 201), withStatus(replies, 200)];
    expect([winners.length, others.length]).toEqual([1, SCANNERS - 1]);
    expect(others.filter(({ body: { data } }) => !data.duplicate)).toEqual([]);
    const ids = new Set(replies.map((reply) => reply.data.package_id));
    expect(ids.size).toBe(1);
    const { rows } = await service().owner.query(
      `select (select count(*)::int from packages where tracking_number = $1) as packages,
        (select count(*)::int from package_events where package_id = any($2)) as events,
        (select count(*)::int from audit_entries where entity_id = any($2)) as audited,
        (select count(*)::int from events where data->>'tracking_number' = $1) as webhook_events`,
      [number, [...ids]],
    );
    expect(rows).toEqual([{ packages: 1, events: 1, audited: 1, webhook_events: 1 }]);
    expect(await eventsOf(service().owner, [...ids])).toMatchObject([
      { type: 'package.created', courier_id: IEX, deliveries: pendingDelivery(IEX, 'add_package') },
    ]);
    expect(await waitingDeliveryQueues(service().owner, IEX)).toEqual(['add_package']);
  }
}, 60_000);

test('simultaneous scans of spellings of one barcode create one package', async () => {
  const short = '9400111899223100001111';
  const spellings = [short, `42033126${short}`, `420331261234${short}`];
  const replies = await Promise.all(spellings.map((tracking_number) => receive({ tracking_number })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
  expect(new Set(replies.map(({ data }) => data.package_id)).size).toBe(1);
});

test(`a pre-alert submitted during intake is either matched or stored as pending, in ${PREALERT_ROUNDS} rounds`, async () => {
  const seen = { matched: 0, later: 0 };
  for (let round = 0; round < PREALERT_ROUNDS; round += 1) {
    const number = `MEET${round}`;
    const [intake, prealert] = await inEitherOrder(
      round,
      () => receive({ tracking_number: number }),
      () => announce('IEX', number).answer(),
    );
    expect([intake.status, prealert.status]).toEqual([201, 201]);
    const { packages, prealerts } = await storedParcel(number);
    expect([packages.length, prealerts.length]).toEqual([1, 1]);
    const isMatched = packages[0].courier_id !== null;
    seen[isMatched ? 'matched' : 'later'] += 1;
    expect({ ...packages[0], status: prealerts[0].status }).toMatchObject(
      isMatched
        ? { courier_id: IEX, user_code: 'IEX-1001', prealert_id: prealerts[0].id, status: 'received' }
        : { courier_id: null, user_code: null, prealert_id: null, status: 'pending' },
    );
  }
  expect(seen.matched).toBeGreaterThan(0);
}, 60_000);

test(`a pre-alert of the package's own courier and customer never stays pending, in ${PREALERT_ROUNDS} rounds`, async () => {
  for (let round = 0; round < PREALERT_ROUNDS; round += 1) {
    const number = `OWN${round}`;
    const [intake, prealert] = await inEitherOrder(
      round,
      () => receive({ tracking_number: number, user_code: 'IEX-1001' }),
      () => announce('IEX', number).answer(),
    );
    expect([intake.status, prealert.status]).toEqual([201, 201]);
    const { packages, prealerts } = await storedParcel(number);
    expect(packages).toMatchObject([{ courier_id: IEX }]);
    expect(prealerts).toMatchObject([{ courier_id: IEX, status: 'received' }]);
  }
}, 60_000);

test(`pre-alerts of two couriers during intake give one owner, or none with both flagged or pending, in ${PREALERT_ROUNDS} rounds`, async () => {
  for (let round = 0; round < PREALERT_ROUNDS; round += 1) {
    const number = `TWICE${round}`;
    const replies = await Promise.all([
      announce('IEX', number).answer(),
      receive({ tracking_number: number }),
      announce('HRB', number).answer(),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    const { packages, prealerts } = await storedParcel(number);
    const statusOf = (courier: string) => prealerts.find(({ courier_id }) => courier_id === courier)?.status;
    const owner = packages[0].courier_id;
    if (owner)
      expect([statusOf(owner), statusOf(owner === IEX ? HRB : IEX)]).toEqual(['received', 'pending']);
    // Without an owner, both pre-alerts came either before the package or after it.
    else expect(['flagged flagged', 'pending pending']).toContain(`${statusOf(IEX)} ${statusOf(HRB)}`);
  }
}, 60_000);

/** Runs both at once. Every other round starts the second one first. */
async function inEitherOrder(round: number, one: () => Promise<Reply>, two: () => Promise<Reply>) {
  if (round % 2 === 0) return Promise.all([one(), two()]);
  const second = two();
  return Promise.all([one(), second]);
}
