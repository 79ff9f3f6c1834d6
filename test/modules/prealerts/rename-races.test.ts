import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { rounds } from '../../support/harness/effort.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { until } from '../../support/service/processes.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked, multipart } from '../../support/fixture/sent.js';

// A pre-alert refers to its customer by the user code. A rename must find every pre-alert of the code (decision 0086).

const { IEX } = DEMO.couriers;
const ROUNDS = rounds(15, 60);

const { api, service } = withService({ poolSize: 60 });
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

type Customer = { id: string; code: string; newCode: string };

let serial = 0;

async function makeCustomer(): Promise<Customer> {
  const code = `RENAME-${(serial += 1)}`;
  const body = { user_code: code, first_name: 'First', last_name: 'Last' };
  const reply = await api.as('iex').createCustomer(body).ok();
  return { id: reply.data.id, code, newCode: `${code}-NEW` };
}

const rename = ({ id, newCode }: Customer) =>
  untilAdmitted(() => api.as('iex').updateCustomer({ courier_customer_id: id, user_code: newCode }).answer());

/** Announces numbers for the code in one of the ways. */
type Announce = (code: string, numbers: string[]) => Promise<Reply>;

const csvOf = (code: string, numbers: string[]) =>
  ['tracking_number,user_code', ...numbers.map((number) => `${number},${code}`), ''].join('\n');

const WAYS: Record<string, Announce> = {
  'a submission with an API key': (UserCode, [TrackingNumber]) =>
    api.withKey(DEMO.apiKeys.IEX).submitPrealert({ UserCode, TrackingNumber }).answer(),
  'a bulk submission': (UserCode, numbers) =>
    api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert(
        unchecked(numbers.map((TrackingNumber) => JSON.stringify({ UserCode, TrackingNumber })).join('\n')),
        { headers: { 'content-type': 'application/x-ndjson' } },
      )
      .answer(),
  'createPrealert by the courier': (user_code, [tracking_number]) =>
    api.as('iex').createPrealert({ user_code, tracking_number, vendor: 'Shop' }).answer(),
  'createPrealert by staff': (user_code, [tracking_number]) =>
    api
      .as('manager')
      .createPrealert({ user_code, tracking_number, vendor: 'Shop', courier_id: IEX })
      .answer(),
  async replacePrealert(user_code, [tracking_number]) {
    const prealert_id = await parcels.announce('IEX', newNumber());
    return api
      .as('iex')
      .replacePrealert({ prealert_id, user_code, tracking_number, vendor: 'Shop' })
      .answer();
  },
  'an upload': (code, numbers) =>
    api
      .as('iex')
      .uploadPrealerts(multipart({ file: { file: csvOf(code, numbers) } }))
      .answer(),
};

const ways = Object.entries(WAYS);

/** The pre-alerts of the tests whose user code no customer has. */
const orphans = () =>
  parcels.select(
    `select p.tracking_number, p.user_code from prealerts p where p.user_code like 'RENAME-%' and not exists (
      select from customers c where c.courier_id = p.courier_id and c.user_code = p.user_code)`,
  );

const codeOf = async (number: string) =>
  (await parcels.select('select user_code from prealerts where tracking_number = $1', [number]))[0]?.[
    'user_code'
  ];

const countWaits = async (): Promise<number> =>
  Number(
    (
      await parcels.select(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
      )
    )[0]?.['n'],
  );

/**
 * Holds numbers, so that the insertion of a pre-alert of one waits after it has found its customer. Runs `work` meanwhile, and then
 * releases the numbers.
 */
async function whileNumbersAreHeld(numbers: string[], work: () => Promise<void>): Promise<void> {
  const client = await service().owner.connect();
  try {
    await client.query('begin');
    await client.query(
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
       select $1, gen_random_uuid(), $2, 'IEX-1001', n, n, 'pending' from unnest($3::text[]) as n`,
      [DEMO.tenants.demo, IEX, numbers],
    );
    await work();
    await client.query('rollback');
  } finally {
    client.release(true);
  }
}

describe('a rename of the customer', () => {
  test.each(ways)('includes the pre-alert that %s is storing', async (_way, announce) => {
    const customer = await makeCustomer();
    // A bulk submission announces both, the other ways the first one.
    const numbers = [newNumber(), newNumber()];
    const [number = ''] = numbers;
    const pending: Promise<Reply>[] = [];
    let hasRenamed = false;
    await whileNumbersAreHeld([number], async () => {
      pending.push(announce(customer.code, numbers));
      await until(async () => (await countWaits()) === 1);
      pending.push(rename(customer).finally(() => (hasRenamed = true)));
      await until(async () => hasRenamed || (await countWaits()) === 2);
    });
    const [announced, renamed] = await Promise.all(pending);
    expect([announced?.status, renamed?.status]).toEqual([expect.any(Number), 200]);
    expect(announced?.status).toBeLessThan(300);
    expect(await codeOf(number)).toBe(customer.newCode);
    expect(await orphans()).toEqual([]);
  });

  test(`among ${ROUNDS * 18} callers who announce in every way leaves no pre-alert with the old code`, async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const customer = await makeCustomer();
      const calls = Array.from({ length: 3 }, () => ways.map(([, announce]) => announce)).flat();
      const replies = await Promise.all([
        ...calls.map((announce) =>
          untilAdmitted(() => announce(customer.code, [newNumber(), newNumber(), newNumber()])),
        ),
        rename(customer),
      ]);
      for (const { status } of replies) statuses.add(status);
    }
    // 400: the code was unknown, because the rename came first.
    expect([...statuses].filter((status) => ![200, 201, 400].includes(status))).toEqual([]);
    expect(await orphans()).toEqual([]);
  }, 240_000);

  test('a deletion waits for the pre-alerts that are being stored, so that none appears after it', async () => {
    const { id, code } = await makeCustomer();
    const number = newNumber();
    const ended: string[] = [];
    const pending: Promise<unknown>[] = [];
    await whileNumbersAreHeld([number], async () => {
      pending.push(parcels.submit('IEX', number, code).then(() => ended.push('announced')));
      await until(async () => (await countWaits()) === 1);
      const deleted = api.as('iex').deleteCustomer(undefined, { query: { id } }).answer();
      pending.push(deleted.then(({ status }) => ended.push(`deleted ${status}`)));
      await until(async () => ended.length > 0 || (await countWaits()) === 2);
      expect(ended).toEqual([]);
    });
    await Promise.all(pending);
    expect(ended.sort()).toEqual(['announced', 'deleted 200']);
  });
});

describe('an intake during a rename of the announced customer', () => {
  const renameRows = ({ id, code, newCode }: Customer) => ({
    text: `with renamed as (update customers set user_code = $3 where id = $1 returning courier_id)
      update prealerts p set user_code = $3 from renamed where p.courier_id = renamed.courier_id and p.user_code = $2`,
    values: [id, code, newCode],
  });

  test('stores the customer under the new code if it waited for the rename', async () => {
    const customer = await makeCustomer();
    const number = newNumber();
    const prealertId = await parcels.announce('IEX', number, customer.code);
    const { body } = await changeMeanwhile(service().owner, renameRows(customer), () => parcels.scan(number));
    expect(body['data']).toMatchObject({ user_code: customer.newCode, prealert_id: prealertId });
    expect(await parcels.packageRow(body['data'].package_id)).toMatchObject({
      first_name: 'First',
      last_name: 'Last',
    });
  });

  test('a corrected number takes the customer of the new number under the new code', async () => {
    const customer = await makeCustomer();
    const [number, corrected] = [newNumber(), newNumber()];
    const packageId = await parcels.receive(number, { courier_id: IEX });
    await parcels.announce('IEX', corrected, customer.code);
    await changeMeanwhile(service().owner, renameRows(customer), () =>
      parcels.update('admin', packageId, { tracking_number: corrected }),
    );
    expect(await parcels.packageRow(packageId)).toMatchObject({ user_code: customer.newCode });
  });

  test(`${ROUNDS * 14} intakes never lose the customer and flag nothing, with and without the code in the body`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const customer = await makeCustomer();
      const numbers = Array.from({ length: 14 }, () => newNumber());
      for (const number of numbers) await parcels.announce('IEX', number, customer.code);
      const [replies] = await Promise.all([
        Promise.all(
          numbers.map((number, n) =>
            untilAdmitted(() => parcels.scan(number, n % 2 ? { user_code: customer.code } : {})),
          ),
        ),
        rename(customer),
      ]);
      const wrong = replies.filter(({ status, body }) => {
        const { user_code: code, flagged } = body['data'] ?? {};
        const isOwned = [customer.code, customer.newCode].includes(code) && !flagged;
        // A body with the old code is refused after the rename.
        return status === 201 ? !isOwned : body['code'] !== 'unknown_user_code';
      });
      expect(wrong.map(({ body }) => body)).toEqual([]);
    }
  }, 240_000);
});

test(`${ROUNDS * 12} packages that get a customer during its rename find the pre-alert of the customer`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const customer = await makeCustomer();
    const numbers = Array.from({ length: 12 }, () => newNumber());
    const ids = await Promise.all(numbers.map((number) => parcels.receive(number, { courier_id: IEX })));
    for (const number of numbers) await parcels.announce('IEX', number, customer.code);
    const replies = await Promise.all([
      ...ids.map((id) => untilAdmitted(() => parcels.update('admin', id, { user_code: customer.code }))),
      rename(customer),
    ]);
    // 400: the code was unknown, because the rename came first.
    expect(replies.map(({ status }) => status).filter((status) => ![200, 400].includes(status))).toEqual([]);
  }
  const pending = await parcels.select(
    `select p.user_code, a.user_code as announced, a.status from packages p
     join prealerts a on a.tenant_id = p.tenant_id and a.tracking_key = p.tracking_key
     where p.user_code like 'RENAME-%' and a.status <> 'received'`,
  );
  expect(pending).toEqual([]);
}, 240_000);
