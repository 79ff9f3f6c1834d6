import { beforeAll, expect, test } from '@jest/globals';
import { makeBilling, tally, type Billing } from '../../../support/builders/billing.js';
import { rounds } from '../../../support/harness/effort.js';
import { whileUnwritable } from '../../../support/harness/meanwhile.js';
import { withService } from '../../../support/fixture/with-service.js';
import { untilAdmitted, type Reply } from '../../../support/service/service.js';
import { couriersWith, makeRunCalls } from './run-calls.js';

const CALLERS = rounds(20, 200);

const fixture = withService({ poolSize: 40 });
const { service } = fixture;
const { draft, publish, billsOf, insertDrafts } = makeRunCalls(fixture);
let billing: Billing;

beforeAll(async () => {
  billing = makeBilling(service());
  // Sign the tokens beforehand, so that the callers contend in the database.
  for (const user of USERS) await service().tokenOf(user);
}, 60_000);

// One user's drafts and runs wait for each other before they reach the database.
const USERS = ['manager', 'admin'] as const;

/** So many wait for a user's turn that the service refuses some. They try again. */
const atOnce = (call: (caller: number) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, caller) => untilAdmitted(() => call(caller))));

test(`of ${CALLERS} runs and single drafts at once, each courier gets one draft with each of its packages`, async () => {
  const couriers = await couriersWith(billing, [3, 4, 5, 6]);
  const run = () =>
    atOnce(async (caller) => {
      const [own = ''] = couriers.slice(caller % 4);
      if (caller > 1 && caller % 4 > 1) return billing.draft(own, { tax_rate: 7 }, USERS[caller % 2]);
      // In opposite orders, which the run must not lock them in.
      return draft(
        { courier_ids: caller % 2 === 0 ? couriers : couriers.toReversed() },
        USERS[caller % 2],
      ).answer();
    });
  const replies = await whileUnwritable(service().owner, { table: 'bills', waiting: 2 }, run);
  expect(Object.keys(tally(replies)).filter((key) => !['200', '400 nothing_to_bill'].includes(key))).toEqual(
    [],
  );
  const bills = await Promise.all(couriers.map(billsOf));
  expect(
    bills
      .map((own) => own.map(({ packages }) => packages))
      .flat()
      .toSorted(),
  ).toEqual([3, 4, 5, 6]);
});

test(`of ${CALLERS} runs at once, none stores a second draft of packages that came late`, async () => {
  const [courierId = ''] = await couriersWith(billing, [2]);
  await draft({ courier_ids: [courierId] }).ok();
  await billing.addPackages(courierId, [{ weight: '5' }, { weight: '6' }]);
  const replies = await atOnce((caller) => draft({ courier_ids: [courierId] }, USERS[caller % 2]).answer());
  expect(replies.filter(({ body }) => body['data']?.results[0]?.code !== 'draft_exists')).toEqual([]);
  expect(await billsOf(courierId)).toHaveLength(1);
});

test(`of ${CALLERS} runs and single publications at once, each draft is published once, with consecutive numbers`, async () => {
  const couriers = [
    await billing.newCourier(),
    await billing.newCourier(),
    await billing.newCourier(),
  ].toSorted();
  const drafts = (await Promise.all(couriers.map((id) => insertDrafts(id, 3)))).flat();
  const run = () =>
    atOnce((caller) =>
      caller % 2 === 0
        ? billing.publish(drafts[caller % drafts.length] ?? '')
        : publish(
            { courier_ids: caller % 4 === 1 ? couriers : couriers.toReversed() },
            USERS[((caller - 1) / 2) % 2],
          ).answer(),
    );
  const replies = await whileUnwritable(service().owner, { table: 'audit_entries', waiting: 4 }, run);
  expect(Object.keys(tally(replies)).filter((key) => !['200', '400 bill_not_draft'].includes(key))).toEqual(
    [],
  );
  // A run that read a draft which another caller publishes would find it changed.
  const results = replies.flatMap(({ body }) => body['data']?.['results'] ?? []);
  expect(results.filter(({ outcome }: { outcome: string }) => outcome === 'refused')).toEqual([]);
  const { rows } = await service().owner.query<{ number: number; entries: number }>(
    `select sequence_number as number,
       (select count(*)::int from audit_entries a where a.entity_id = b.id and a.action = 'bill.published') as entries
     from bills b where b.id = any($1) order by sequence_number`,
    [drafts],
  );
  expect(rows.map(({ entries }) => entries)).toEqual(drafts.map(() => 1));
  const [first] = rows;
  expect(rows.map(({ number }) => number)).toEqual(drafts.map((_, index) => (first?.number ?? 0) + index));
});
