import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../src/development/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { emptyQueue, eventsOf, giveUrls, promised, waitingLanes } from '../../support/receivers/outbound.js';
import { startService, untilAdmitted, type Reply, type Service } from '../../support/service/service.js';

const { IEX, HRB } = DEMO.couriers;
const SCANNERS = 200;
const SCAN_ROUNDS = rounds(3, 10);
const PREALERT_ROUNDS = rounds(50, 100);

let service: Service;
beforeAll(async () => {
  // so that as many callers contend in the database itself, not for a connection
  service = await startService({ poolSize: 60 });
  await giveUrls(service.owner, [IEX, HRB]);
}, 60_000);
afterAll(() => service.stop(), 60_000);

const receive = (body: object) =>
  untilAdmitted(() => service.call('receivePackage', { as: 'warehouse', body: { weight: 1, ...body } }));

const announce = (courier: 'IEX' | 'HRB', number: string) =>
  service.call('submitPrealert', {
    key: DEMO.apiKeys[courier],
    body: { UserCode: courier === 'IEX' ? 'IEX-1001' : 'HRB-2001', TrackingNumber: number },
  });

const withStatus = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status);

/** What is left of a parcel: its package's owner, and its pre-alerts by courier. */
async function remains(number: string) {
  const { rows: packages } = await service.owner.query(
    'select id, courier_id, user_code, prealert_id from packages where tracking_key = $1 and tenant_id = $2',
    [number, DEMO.tenants.demo],
  );
  const { rows: prealerts } = await service.owner.query(
    'select id, courier_id, status from prealerts where tracking_key = $1 and tenant_id = $2',
    [number, DEMO.tenants.demo],
  );
  return { packages, prealerts };
}

test(`of ${SCANNERS} scans at once one stores the package and the others answer with it`, async () => {
  for (let round = 0; round < SCAN_ROUNDS; round += 1) {
    await emptyQueue(service.owner);
    const number = `RACE${round}`;
    const body = { tracking_number: number, user_code: 'IEX-1001' };
    const replies = await Promise.all(Array.from({ length: SCANNERS }, () => receive(body)));
    const [winners, others] = [withStatus(replies, 201), withStatus(replies, 200)];
    expect([winners.length, others.length]).toEqual([1, SCANNERS - 1]);
    expect(others.every(({ body: { data } }) => data.duplicate)).toBe(true);
    const ids = new Set(replies.map((reply) => reply.body.data.package_id));
    expect(ids.size).toBe(1);
    const { rows } = await service.owner.query(
      `select (select count(*)::int from packages where tracking_number = $1) as packages,
        (select count(*)::int from package_events where package_id = any($2)) as events,
        (select count(*)::int from audit_entries where entity_id = any($2)) as audited,
        (select count(*)::int from events where data->>'tracking_number' = $1) as told`,
      [number, [...ids]],
    );
    expect(rows).toEqual([{ packages: 1, events: 1, audited: 1, told: 1 }]);
    expect(await eventsOf(service.owner, [...ids])).toMatchObject([
      { type: 'package.created', courier_id: IEX, deliveries: promised(IEX, 'add_package') },
    ]);
    expect(await waitingLanes(service.owner, IEX)).toEqual(['add_package']);
  }
}, 60_000);

test('two spellings of one barcode at once are one package', async () => {
  const short = '9400111899223100001111';
  const spellings = [short, `42033126${short}`, `420331261234${short}`];
  const replies = await Promise.all(spellings.map((tracking_number) => receive({ tracking_number })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
  expect(new Set(replies.map(({ body }) => body.data.package_id)).size).toBe(1);
});

test(`a pre-alert that is submitted during the intake, ${PREALERT_ROUNDS} rounds, is matched or came later`, async () => {
  const seen = { matched: 0, later: 0 };
  for (let round = 0; round < PREALERT_ROUNDS; round += 1) {
    const number = `MEET${round}`;
    const [intake, prealert] = await inEitherOrder(
      round,
      () => receive({ tracking_number: number }),
      () => announce('IEX', number),
    );
    expect([intake.status, prealert.status]).toEqual([201, 201]);
    const { packages, prealerts } = await remains(number);
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

test(`a pre-alert of the package's own courier and customer never stays pending, ${PREALERT_ROUNDS} rounds`, async () => {
  for (let round = 0; round < PREALERT_ROUNDS; round += 1) {
    const number = `OWN${round}`;
    const [intake, prealert] = await inEitherOrder(
      round,
      () => receive({ tracking_number: number, user_code: 'IEX-1001' }),
      () => announce('IEX', number),
    );
    expect([intake.status, prealert.status]).toEqual([201, 201]);
    const { packages, prealerts } = await remains(number);
    expect(packages).toMatchObject([{ courier_id: IEX }]);
    expect(prealerts).toMatchObject([{ courier_id: IEX, status: 'received' }]);
  }
}, 60_000);

test(`two couriers' pre-alerts during the intake, ${PREALERT_ROUNDS} rounds: one owner, or none and both flagged`, async () => {
  for (let round = 0; round < PREALERT_ROUNDS; round += 1) {
    const number = `TWICE${round}`;
    const replies = await Promise.all([
      announce('IEX', number),
      receive({ tracking_number: number }),
      announce('HRB', number),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    const { packages, prealerts } = await remains(number);
    const statusOf = (courier: string) => prealerts.find(({ courier_id }) => courier_id === courier)?.status;
    const owner = packages[0].courier_id;
    if (owner)
      expect([statusOf(owner), statusOf(owner === IEX ? HRB : IEX)]).toEqual(['received', 'pending']);
    // with no owner either both were there before the package, or both came later
    else expect(['flagged flagged', 'pending pending']).toContain(`${statusOf(IEX)} ${statusOf(HRB)}`);
  }
}, 60_000);

/** Both at once; every other round the other one has the start. */
async function inEitherOrder(round: number, one: () => Promise<Reply>, two: () => Promise<Reply>) {
  if (round % 2 === 0) return Promise.all([one(), two()]);
  const second = two();
  return Promise.all([one(), second]);
}
