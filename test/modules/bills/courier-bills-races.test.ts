import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { rounds } from '../../support/harness/effort.js';
import { makeBilling, newBill, tally, type Billing } from '../../support/builders/billing.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const CALLERS = rounds(30, 200);
const HALF = CALLERS / 2;
const DRAFT_ROUNDS = rounds(2, 5);
/** Rounds are added until both outcomes have occurred, at most so many. */
const MAX_DRAFT_ROUNDS = 30;

/** The places of the publication and of the deletion among 40 callers: next to each other, and far apart, in both orders. */
const DRAFT_PLACES = [
  [20, 21],
  [20, 19],
  [2, 38],
  [38, 2],
] as const;

const { api, service } = withService({ poolSize: 40 });
beforeAll(async () => {
  billing = makeBilling(service());
  // Sign the token beforehand, so that the callers contend in the database.
  await service().tokenOf('manager');
}, 60_000);
let billing: Billing;

const data = ({ body }: Reply) => body['data'];
const isDone = ({ status }: Reply) => status === 200;

const callAtOnce = (call: (caller: number) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));

/** Plants drafts with one adjustment each. */
async function insertDrafts(many: number, courierId: string): Promise<string[]> {
  const own = [DEMO.tenants.demo, courierId, many];
  const made = await billing.rows<{ id: string }>(
    `with drafted as (
       insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
         subtotal, tax_amount, total_amount)
       select $1, gen_random_uuid(), 'DRAFT-' || gen_random_uuid(), $2, 'Air', '2024-05-01', '2024-05-31', 0, 5, 0, 5
       from generate_series(1, $3) returning tenant_id, id, courier_id),
     charged as (
       insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
       select tenant_id, gen_random_uuid(), id, courier_id, 1, 'adjustment', 'Storage', 5 from drafted)
     select id from drafted`,
    own,
  );
  return made.map(({ id }) => id);
}

const lastNumber = async () =>
  (
    await billing.rows<{ last_number: number }>(
      'select last_number from bill_counters where tenant_id = $1',
      [DEMO.tenants.demo],
    )
  )[0]?.last_number ?? 0;

const countTo = (from: number, many: number) => Array.from({ length: many }, (_, n) => from + n + 1);

/** Returns the numbers of these bills in the order of publication, which is stored in milliseconds. */
async function numbersOf(billIds: string[]): Promise<(number | null)[]> {
  const found = await billing.rows<{ sequence_number: number | null }>(
    'select sequence_number from bills where id = any($1) and sequence_number is not null order by published_at, sequence_number',
    [billIds],
  );
  return found.map((row) => row.sequence_number);
}

test(`of ${CALLERS} simultaneous drafts of one courier and period, one gets the packages and the others find none`, async () => {
  const courierId = await billing.newCourier('1.75');
  const manifest = await billing.newManifest('106-1');
  const packages = Array.from({ length: 50 }, () => ({ weight: '2', manifest }));
  await billing.addPackages(courierId, packages);
  const replies = await callAtOnce(() => billing.draft(courierId));
  expect(tally(replies)).toEqual({ '200': 1, '400 nothing_to_bill': CALLERS - 1 });
  const [found] = await billing.rows(
    `select count(*)::int as bills, sum(total_packages)::int as packages,
       (select count(*)::int from bill_lines where courier_id = $1) as lines from bills where courier_id = $1`,
    [courierId],
  );
  expect(found).toEqual({ bills: 1, packages: 50, lines: 51 });
});

test(`${CALLERS} drafts of overlapping periods, some deleted again, put each package on at most one bill, and every bill adds up`, async () => {
  const courierId = await billing.newCourier('1.75');
  const dayOf = (n: number) => `2024-05-${String((n % 28) + 1).padStart(2, '0')}`;
  await billing.addPackages(
    courierId,
    Array.from({ length: 280 }, (_, n) => ({ weight: '2', receivedAt: `${dayOf(n)}T08:00:00Z` })),
  );
  const replies = await callAtOnce(async (caller) => {
    const [one, other] = [dayOf(caller), dayOf(caller * 5)].sort();
    const reply = await billing.draft(courierId, { start_date: one, end_date: other, tax_rate: 7 });
    if (isDone(reply) && caller % 3 === 0)
      expect((await billing.remove(data(reply).bill_id)).status).toBe(200);
    return reply;
  });
  expect(Object.keys(tally(replies)).sort()).toEqual(['200', '400 nothing_to_bill']);
  await billing.draft(courierId);
  const bills = await billing.rows(
    `select b.total_packages = count(l.package_id) and b.subtotal = sum(l.amount_usd) as ties
     from bills b join bill_lines l on l.bill_id = b.id where b.courier_id = $1 group by b.id, b.tenant_id`,
    [courierId],
  );
  expect(bills.length).toBeGreaterThan(1);
  expect(bills.filter(({ ties }) => ties !== true)).toEqual([]);
  const [billed] = await billing.rows(
    'select count(package_id)::int as lines, count(distinct package_id)::int as packages from bill_lines where courier_id = $1',
    [courierId],
  );
  expect(billed).toEqual({ lines: 280, packages: 280 });
});

test(`${CALLERS} simultaneous publications get ${CALLERS} consecutive numbers in the order of publication`, async () => {
  const drafts = await insertDrafts(CALLERS, await billing.newCourier());
  const lastBefore = await lastNumber();
  const replies = await callAtOnce((caller) => billing.publish(drafts[caller] ?? ''));
  expect(tally(replies)).toEqual({ '200': CALLERS });
  expect(await numbersOf(drafts)).toEqual(countTo(lastBefore, CALLERS));
  const reported = replies.map((reply) => Number(data(reply).invoice_number.slice(4)));
  expect(reported.sort((a, b) => a - b)).toEqual(countTo(lastBefore, CALLERS));
});

test(`publishes a draft once for ${CALLERS} simultaneous callers and uses one number`, async () => {
  const [draft = ''] = await insertDrafts(1, await billing.newCourier());
  const lastBefore = await lastNumber();
  const replies = await callAtOnce(() => billing.publish(draft));
  expect(tally(replies)).toEqual({ '200': 1, '400 bill_not_draft': CALLERS - 1 });
  expect(await lastNumber()).toBe(lastBefore + 1);
  const audit = await billing.rows(
    "select 1 from audit_entries where entity_id = $1 and action = 'bill.published'",
    [draft],
  );
  expect(audit).toHaveLength(1);
});

test('connections killed after they took an invoice number leave no gap in the numbers', async () => {
  const drafts = await insertDrafts(20, await billing.newCourier());
  const lastBefore = await lastNumber();
  const blocker = await service().owner.connect();
  try {
    await blocker.query('begin');
    // Each publication waits here after it has locked the counter and numbered its bill.
    await blocker.query('lock table audit_entries in share row exclusive mode');
    const replies = drafts.map((bill_id) =>
      api.as('manager').manageCourierBills({ action: 'publish', bill_id }).answer(),
    );
    for (let killed = 0; killed < 5; killed += 1) await killWaitingBackend();
    await blocker.query('rollback');
    expect(tally(await Promise.all(replies))).toEqual({ '200': 15, '503 unavailable': 5 });
  } finally {
    blocker.release();
  }
  expect(await numbersOf(drafts)).toEqual(countTo(lastBefore, 15));
  expect(await lastNumber()).toBe(lastBefore + 15);
});

async function killWaitingBackend(): Promise<void> {
  for (;;) {
    const killed = await billing.rows(
      `select pg_terminate_backend(pid, 5000) from pg_locks
       where relation = 'audit_entries'::regclass and not granted limit 1`,
    );
    if (killed.length === 1) return;
  }
}

test(`of ${CALLERS} simultaneous payments of 1.00 on a bill of ${HALF}.00, exactly ${HALF} are accepted and the bill is paid`, async () => {
  const billId = await newBill(billing, await billing.newCourier(), HALF - 12);
  await billing.publish(billId);
  const replies = await callAtOnce(() => billing.pay(billId, 1));
  expect(tally(replies)).toEqual({ '200': HALF, '400 payment_exceeds_balance': HALF });
  expect(replies.filter((reply) => data(reply)?.status === 'paid')).toHaveLength(1);
  // Each response has the balance after its own payment.
  const reported = replies.filter(isDone).map((reply) => data(reply).paid_amount);
  expect(reported.sort((a, b) => a - b)).toEqual(countTo(0, HALF));
  expect(await paidOf(billId)).toEqual({
    status: 'paid',
    paid: `${HALF}.00`,
    sum: `${HALF}.00`,
    live: HALF,
  });
});

/** The callers who do not void their payments alone would pay more than the 30.00 of the bill. */
const EACH_USD = Math.max(1, 60 / CALLERS);

test(`the paid amount equals the sum of the valid payments while ${CALLERS} callers pay and void at once`, async () => {
  const billId = await newBill(billing, await billing.newCourier(), 18);
  await billing.publish(billId);
  const replies = await callAtOnce(async (caller) => {
    const paid = await billing.pay(billId, EACH_USD + (caller % 5) / 100);
    if (!isDone(paid) || caller % 2 === 0) return paid;
    return billing.unpay(data(paid).payment_id);
  });
  expect(Object.keys(tally(replies)).sort()).toEqual(['200', '400 payment_exceeds_balance']);
  const { status, paid, sum } = await paidOf(billId);
  expect(paid).toBe(sum);
  expect(status).toBe(Number(paid) === 30 ? 'paid' : 'published');
});

test(`voids a payment once for ${CALLERS} simultaneous callers`, async () => {
  const billId = await newBill(billing, await billing.newCourier());
  await billing.publish(billId);
  await billing.pay(billId, 4);
  const { payment_id } = data(await billing.pay(billId, 8));
  const replies = await callAtOnce(() => billing.unpay(payment_id));
  expect(tally(replies)).toEqual({ '200': CALLERS });
  expect(replies.filter(({ body }) => body['message'] === 'Payment voided.')).toHaveLength(1);
  expect(await paidOf(billId)).toEqual({ status: 'published', paid: '4.00', sum: '4.00', live: 1 });
  const audit = await billing.rows(
    "select 1 from audit_entries where entity_id = $1 and action = 'bill.payment_voided'",
    [billId],
  );
  expect(audit).toHaveLength(1);
});

async function paidOf(billId: string): Promise<Record<string, unknown>> {
  const [row] = await billing.rows(
    `select b.status, b.paid_amount::text as paid, coalesce(sum(p.amount_usd), 0)::numeric(12, 2)::text as sum,
       count(p.id)::int as live
     from bills b left join bill_payments p on p.bill_id = b.id and p.voided_at is null
     where b.id = $1 group by b.tenant_id, b.id`,
    [billId],
  );
  return row ?? {};
}

test(`a draft adds up or is deleted after 40 callers adjust, publish and delete it at once, in at least ${DRAFT_ROUNDS} rounds`, async () => {
  const ends = new Set<string>();
  for (let round = 0; round < DRAFT_ROUNDS || (ends.size < 2 && round < MAX_DRAFT_ROUNDS); round += 1) {
    const billId = await newBill(billing, await billing.newCourier(), 3);
    const [, adjustment] = data(await billing.read(billId)).lines;
    const [publisher, remover] = DRAFT_PLACES[round % DRAFT_PLACES.length] ?? [20, 21];
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, caller) => {
        if (caller === publisher) return billing.publish(billId);
        if (caller === remover) return billing.remove(billId);
        return caller % 4 === 0
          ? billing.unadjust(adjustment.line_id)
          : billing.adjust(billId, caller / 100 + 0.01);
      }),
    );
    expect(Object.keys(tally(replies)).filter((key) => key >= '5')).toEqual([]);
    const [left] = await billing.rows(
      `select b.status, b.subtotal = sum(l.amount_usd) and count(distinct l.position) = count(*) as ties
       from bills b join bill_lines l on l.bill_id = b.id where b.id = $1 group by b.tenant_id, b.id`,
      [billId],
    );
    ends.add(String(left?.['status']));
    // The draft is deleted, or published with all its lines.
    if (left) expect(left).toEqual({ status: 'published', ties: true });
    const winners = [replies[publisher], replies[remover]].filter((reply) => reply && isDone(reply));
    expect(winners).toHaveLength(1);
  }
  // Both outcomes occurred, so the operations really raced.
  expect([...ends].sort()).toEqual(['published', 'undefined']);
}, 60_000);
