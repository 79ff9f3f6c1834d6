import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { lockParcel } from '../../../../src/platform/db/locks.js';
import { presentCode } from '../../../../src/platform/db/user-codes.js';
import type { Sql } from '../../../../src/platform/db/statements.js';
import { deadlocksOf } from '../../../support/failures/deadlocks.js';
import { rounds } from '../../../support/harness/effort.js';
import { changeMeanwhile, isWaitedFor } from '../../../support/harness/meanwhile.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { deviceScan } from '../../../support/scans/device-scans.js';
import { numbersWithLocks } from '../../../support/scans/parcel-locks.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { until } from '../../../support/service/processes.js';
import { withService } from '../../../support/fixture/with-service.js';

// All that locks user codes, corrections and parcels, at the same time, on few of each (decision 0086).

const ROUNDS = rounds(2, 12);
const CALLERS = 270;
const PARCELS = 4;
const CUSTOMERS = 4;

// A large pool, so that the callers contend in the database and not for a connection.
const { api, db, service } = withService({ poolSize: 60 });
const { announce, receive, renumber } = makeScanCalls(api);
const iex = api.as('iex');
const submit = api.withKey(DEMO.apiKeys.IEX).submitPrealert;

let serial = 0;
/** No code is used twice, so that a code says which customer was meant. */
const newCode = () => `MIXED-${(serial += 1)}`;

/** What a call of any kind ended with. */
type Ending = { status: number; body: Record<string, unknown> };

type Customer = { id: string; code: string };
type Parcel = { id: string; house: string };
type Stock = { customers: Customer[]; parcels: Parcel[]; prealerts: string[]; numbers: string[] };

async function makeStock(): Promise<Stock> {
  const stock: Stock = { customers: [], parcels: [], prealerts: [], numbers: [] };
  for (let n = 0; n < CUSTOMERS; n += 1) {
    const code = newCode();
    const customer = { user_code: code, first_name: 'First', last_name: 'Last' };
    stock.customers.push({ id: (await iex.createCustomer(customer).ok()).data.id, code });
  }
  for (let n = 0; n < PARCELS; n += 1) {
    const number = newNumber();
    const { data } = await receive(number).created();
    stock.parcels.push({ id: data.package_id, house: data.house_number });
    // One number for each package, and as many that packages can be corrected to or new ones received with.
    stock.numbers.push(number, newNumber());
    stock.prealerts.push(await announce(newNumber(), at(stock.customers, n).code));
  }
  return stock;
}

const at = <Item>(items: readonly Item[], index: number): Item => {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
};

/** A new number for every other caller, which others then use too. */
function someNumber({ numbers }: Stock, n: number): string {
  if (n % 2) return at(numbers, n * 3 + 1);
  const number = newNumber();
  numbers.push(number);
  return number;
}

/** What caller number `n` of a kind sends. It takes each record in turn. */
const CALLS: Record<string, (stock: Stock, n: number) => Promise<Ending>> = {
  'a rename': async ({ customers }, n) => {
    // One keeps its code, so that not every correction comes too late.
    const customer = at(customers.slice(1), n);
    const user_code = newCode();
    const reply = await iex.updateCustomer({ courier_customer_id: customer.id, user_code }).answer();
    if (reply.status === 200) customer.code = user_code;
    return reply;
  },
  'a correction': (stock, n) =>
    api
      .as('admin')
      .updatePackage({
        package_id: at(stock.parcels, n).id,
        tracking_number: someNumber(stock, n),
        user_code: at(stock.customers, n).code,
      })
      .answer(),
  'a correction of the number only': (stock, n) =>
    renumber(at(stock.parcels, n + 1).id, someNumber(stock, n + 1)).answer(),
  'an intake': (stock, n) =>
    receive(at(stock.numbers, n), n % 2 ? { user_code: at(stock.customers, n).code } : {}).answer(),
  'an intake of a house number': (stock, n) => receive(at(stock.parcels, n).house).answer(),
  'a batch of scans': (stock, n) =>
    api
      .as('warehouse')
      .sendScans(
        unchecked({
          station: `Dock ${n % 4}`,
          scans: [
            deviceScan('receive', at(stock.numbers, n + 2), 5, {
              weight: 1,
              user_code: at(stock.customers, n).code,
            }),
            deviceScan('hold', at(stock.parcels, n).house, 4),
            deviceScan('release', at(stock.parcels, n + 1).house, 3),
            deviceScan('receive', at(stock.numbers, n), 2, {
              weight: 1,
              user_code: at(stock.customers, n + 1).code,
            }),
          ],
        }),
      )
      .answer(),
  'an announcement': (stock, n) =>
    submit({
      TrackingNumber: at(stock.numbers, n * 3),
      UserCode: at(stock.customers, n).code,
    }).answer(),
  'a bulk announcement': (stock, n) =>
    submit(
      unchecked(
        [0, 1, 2, 3]
          .map((line) => ({
            UserCode: at(stock.customers, n + line).code,
            TrackingNumber: at(stock.numbers, n * 5 - line + 8),
          }))
          .map((each) => JSON.stringify(each))
          .join('\n'),
      ),
      { headers: { 'content-type': 'application/x-ndjson' } },
    ).answer(),
  'a changed pre-alert': (stock, n) =>
    iex
      .replacePrealert({
        prealert_id: at(stock.prealerts, n),
        user_code: at(stock.customers, n + 1).code,
        tracking_number: someNumber(stock, n),
        vendor: 'Shop',
      })
      .answer(),
};

/** What a caller may learn who was too late: an unknown code, a number that another has. */
const REFUSALS = ['unknown_user_code', 'duplicate_tracking_number'];

type Outcome = { kind: string; reply: Ending };

const shown = ({ kind, reply: { status, body } }: Outcome) => [kind, status, body];

const isServed = ({ status, body }: Ending): boolean =>
  status < 300 || REFUSALS.includes(String(body['code']));

function callAll(stock: Stock, round: number): Promise<Outcome[]> {
  const kinds = Object.entries(CALLS);
  const perKind = CALLERS / kinds.length;
  return Promise.all(
    Array.from({ length: CALLERS }, async (_, index) => {
      const [kind, call] = at(kinds, index);
      const n = round * perKind + Math.floor(index / kinds.length);
      return { kind, reply: await untilAdmitted(() => call(stock, n)) };
    }),
  );
}

test(`${ROUNDS * CALLERS} callers of every kind on ${PARCELS} parcels and ${CUSTOMERS} customers neither fail nor deadlock`, async () => {
  const deadlocks = await deadlocksOf(service().owner);
  const stock = await makeStock();
  const outcomes: Outcome[] = [];
  for (let round = 0; round < ROUNDS; round += 1) outcomes.push(...(await callAll(stock, round)));
  expect(outcomes.filter(({ reply }) => !isServed(reply)).map(shown)).toEqual([]);
  // Of each kind, some were executed.
  const executed = outcomes.filter(({ reply }) => reply.status < 300).map(({ kind }) => kind);
  expect([...new Set(executed)].sort()).toEqual(Object.keys(CALLS).sort());
  expect(await contradictions()).toEqual({ orphans: [], missed: [], keys: [], scans: [], counters: [] });
  expect(await deadlocksOf(service().owner)).toBe(deadlocks);
}, 240_000);

/** The code of a pre-alert's customer. No worker runs here, which would write it after a rename. */
const present = (alias: string) => presentCode(alias).text;

/** The rows that contradict each other. */
async function contradictions() {
  const [orphans, missed, keys, scans, counters] = await Promise.all([
    // A pre-alert whose code no customer has.
    db.query(
      `select p.tracking_number, p.user_code from prealerts p where p.user_code like 'MIXED-%' and not exists (
        select from customers c where c.courier_id = p.courier_id and c.user_code = ${present('p')})`,
    ),
    // A pending pre-alert of a package of the same customer.
    db.query(
      `select a.tracking_number, a.user_code from prealerts a join packages p on p.tenant_id = a.tenant_id
         and p.tracking_key = a.tracking_key and p.courier_id = a.courier_id and p.user_code = ${present('a')}
       where a.status = 'pending' and a.user_code like 'MIXED-%'`,
    ),
    db.query(
      `select tracking_number from packages where tracking_number like 'PCL%' and tracking_key <> tracking_number`,
    ),
    // A scan that waits for a receipt that there is.
    db.query(
      `select s.parcel_key, s.kind from scans s join packages p on p.tenant_id = s.tenant_id
         and p.tracking_key = s.parcel_key where s.reason = 'not_received'`,
    ),
    db.query(
      `select 1 as differs where (select sum(total) from prealert_tallies) <> (select count(*) from prealerts)`,
    ),
  ]);
  return { orphans, missed, keys, scans, counters };
}

test('a package whose number changes while its parcel is locked locks only the parcel of the new number', async () => {
  // Two numbers can have one lock.
  const [number = '', corrected = ''] = await numbersWithLocks(service().owner, 60, 62);
  const id = (await receive(number).created()).data.package_id;
  const holder = await service().owner.connect();
  try {
    await holder.query('begin');
    await holder.query(plain(lockParcel(DEMO.tenants.demo, corrected)));
    const renumber = {
      text: 'update packages set tracking_number = $2, tracking_key = $2 where id = $1',
      values: [id, corrected],
    };
    let hasEnded = false;
    const pending = changeMeanwhile(service().owner, renumber, () =>
      api.as('admin').updatePackage({ package_id: id, user_code: 'IEX-1001' }).ok(),
    ).finally(() => (hasEnded = true));
    await until(async () => hasEnded || (await isWaitedFor(service().owner, holder)));
    expect(hasEnded).toBe(false);
    const { text, values } = lockParcel(DEMO.tenants.demo, number);
    const attempt = text.replace('pg_advisory_xact_lock', 'pg_try_advisory_xact_lock');
    expect(await db.query(attempt, values)).toEqual([{ pg_try_advisory_xact_lock: 'true' }]);
    await holder.query('commit');
    await pending;
  } finally {
    holder.release(true);
  }
});

const plain = ({ text, values }: Sql) => ({ text, values });
