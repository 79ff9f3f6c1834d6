import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../src/development/demo/demo.js';
import { makeBilling, newBill, tally, type Billing } from '../../support/builders/billing.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

const CALLERS = 200;

let service: Service;
let billing: Billing;

beforeAll(async () => {
  // more connections than a laptop's default, so that more callers are inside at once
  service = await startService({ poolSize: 40 });
  billing = makeBilling(service);
  // sign the token once, so that the callers meet at the database and not before
  await service.tokenOf('manager');
}, 60_000);
afterAll(() => service.stop(), 60_000);

const data = ({ body }: Reply) => body['data'];
const isDone = ({ status }: Reply) => status === 200;

const storm = (call: (caller: number) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));

/** Drafts of one adjustment each. */
async function plantDrafts(many: number, courierId: string): Promise<string[]> {
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

/** The numbers of these bills in the order of their publication. */
async function numbersOf(billIds: string[]): Promise<(number | null)[]> {
  const found = await billing.rows<{ sequence_number: number | null }>(
    'select sequence_number from bills where id = any($1) and sequence_number is not null order by published_at',
    [billIds],
  );
  return found.map((row) => row.sequence_number);
}

test(`${CALLERS} drafts of one courier and period at once: one bill has the packages, the others find none left`, async () => {
  const courierId = await billing.newCourier('1.75');
  const manifest = await billing.newManifest('106-1');
  const packages = Array.from({ length: 50 }, () => ({ weight: '2', manifest }));
  await billing.addPackages(courierId, packages);
  const replies = await storm(() => billing.draft(courierId));
  expect(tally(replies)).toEqual({ '200': 1, '400 nothing_to_bill': CALLERS - 1 });
  const [found] = await billing.rows(
    `select count(*)::int as bills, sum(total_packages)::int as packages,
       (select count(*)::int from bill_lines where courier_id = $1) as lines from bills where courier_id = $1`,
    [courierId],
  );
  expect(found).toEqual({ bills: 1, packages: 50, lines: 51 });
});

test(`${CALLERS} drafts of periods that overlap, some deleted again: each package is on one bill at most, and every bill adds up`, async () => {
  const courierId = await billing.newCourier('1.75');
  const dayOf = (n: number) => `2024-05-${String((n % 28) + 1).padStart(2, '0')}`;
  await billing.addPackages(
    courierId,
    Array.from({ length: 280 }, (_, n) => ({ weight: '2', receivedAt: `${dayOf(n)}T08:00:00Z` })),
  );
  const replies = await storm(async (caller) => {
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

test(`${CALLERS} drafts published at once have ${CALLERS} numbers in a row, in the order of their publication`, async () => {
  const drafts = await plantDrafts(CALLERS, await billing.newCourier());
  const stood = await lastNumber();
  const replies = await storm((caller) => billing.publish(drafts[caller] ?? ''));
  expect(tally(replies)).toEqual({ '200': CALLERS });
  expect(await numbersOf(drafts)).toEqual(countTo(stood, CALLERS));
  const told = replies.map((reply) => Number(data(reply).invoice_number.slice(4)));
  expect(told.sort((a, b) => a - b)).toEqual(countTo(stood, CALLERS));
});

test(`one draft published by ${CALLERS} callers at once is published once, under one number`, async () => {
  const [draft = ''] = await plantDrafts(1, await billing.newCourier());
  const stood = await lastNumber();
  const replies = await storm(() => billing.publish(draft));
  expect(tally(replies)).toEqual({ '200': 1, '400 bill_not_draft': CALLERS - 1 });
  expect(await lastNumber()).toBe(stood + 1);
  const audit = await billing.rows(
    "select 1 from audit_entries where entity_id = $1 and action = 'bill.published'",
    [draft],
  );
  expect(audit).toHaveLength(1);
});

test('connections that are killed after they have taken a number leave no gap: the next takes it', async () => {
  const drafts = await plantDrafts(20, await billing.newCourier());
  const stood = await lastNumber();
  const holder = await service.owner.connect();
  try {
    await holder.query('begin');
    // whoever has numbered its bill waits here, with the counter in its hands
    await holder.query('lock table audit_entries in share row exclusive mode');
    const replies = drafts.map((bill_id) =>
      service.call('manageCourierBills', { as: 'manager', body: { action: 'publish', bill_id } }),
    );
    for (let killed = 0; killed < 5; killed += 1) await killOneThatWaits();
    await holder.query('rollback');
    expect(tally(await Promise.all(replies))).toEqual({ '200': 15, '503 unavailable': 5 });
  } finally {
    holder.release();
  }
  expect(await numbersOf(drafts)).toEqual(countTo(stood, 15));
  expect(await lastNumber()).toBe(stood + 15);
});

async function killOneThatWaits(): Promise<void> {
  for (;;) {
    const killed = await billing.rows(
      `select pg_terminate_backend(pid, 5000) from pg_locks
       where relation = 'audit_entries'::regclass and not granted limit 1`,
    );
    if (killed.length === 1) return;
  }
}

test(`${CALLERS} payments of 1.00 on a bill of 100.00 at once: 100 are taken, the bill is paid, never more`, async () => {
  const billId = await newBill(billing, await billing.newCourier(), 88);
  await billing.publish(billId);
  const replies = await storm(() => billing.pay(billId, 1));
  expect(tally(replies)).toEqual({ '200': 100, '400 payment_exceeds_balance': 100 });
  expect(replies.filter((reply) => data(reply)?.status === 'paid')).toHaveLength(1);
  // what each was told is what stood after it alone
  const told = replies.filter(isDone).map((reply) => data(reply).paid_amount);
  expect(told.sort((a, b) => a - b)).toEqual(countTo(0, 100));
  expect(await paidOf(billId)).toEqual({ status: 'paid', paid: '100.00', sum: '100.00', live: 100 });
});

test(`${CALLERS} callers who pay and void at once: what is paid is the sum of the payments that count`, async () => {
  const billId = await newBill(billing, await billing.newCourier(), 18);
  await billing.publish(billId);
  const replies = await storm(async (caller) => {
    const paid = await billing.pay(billId, 1 + (caller % 5) / 100);
    if (!isDone(paid) || caller % 2 === 0) return paid;
    return billing.unpay(data(paid).payment_id);
  });
  expect(Object.keys(tally(replies)).sort()).toEqual(['200', '400 payment_exceeds_balance']);
  const { status, paid, sum } = await paidOf(billId);
  expect(paid).toBe(sum);
  expect(status).toBe(Number(paid) === 30 ? 'paid' : 'published');
});

test(`one payment voided by ${CALLERS} callers at once is taken back once`, async () => {
  const billId = await newBill(billing, await billing.newCourier());
  await billing.publish(billId);
  await billing.pay(billId, 4);
  const { payment_id } = data(await billing.pay(billId, 8));
  const replies = await storm(() => billing.unpay(payment_id));
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

test(`${CALLERS} callers adjust, un-adjust, publish and delete one draft at once, 5 rounds: what is left adds up`, async () => {
  const ends = new Set<string>();
  for (let round = 0; round < 5; round += 1) {
    const billId = await newBill(billing, await billing.newCourier(), 3);
    const [, adjustment] = data(await billing.read(billId)).lines;
    const replies = await Promise.all(
      Array.from({ length: CALLERS / 5 }, (_, caller) => {
        if (caller === 20) return billing.publish(billId);
        if (caller === 20 + (round % 2 === 0 ? 1 : -1)) return billing.remove(billId);
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
    // deleted, or published whole
    if (left) expect(left).toEqual({ status: 'published', ties: true });
    const winners = [replies[20], replies[20 + (round % 2 === 0 ? 1 : -1)]].filter(
      (reply) => reply && isDone(reply),
    );
    expect(winners).toHaveLength(1);
  }
  // both ends were seen, so that the race was one
  expect([...ends].sort()).toEqual(['published', 'undefined']);
}, 60_000);
