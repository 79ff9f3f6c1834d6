import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { runBackgroundMigrations } from '../../../src/jobs/background-migrations/run.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { checkBackground } from '../../../src/startup/doctor/checks/work.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { startService, type Service } from '../../support/service/service.js';

// Earlier releases left pre-alerts that were stored during a rename of their customer with the old user code (decision 0086).

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService();
  parcels = makeParcels(service);
});

afterAll(async () => {
  await service.stop();
});

let serial = 0;
const newCode = () => `CODE-${(serial += 1)}`;

async function makeCustomer(user_code: string, as = 'iex'): Promise<string> {
  const body = { user_code, first_name: 'First', last_name: 'Last' };
  const reply = await service.call('createCustomer', { as, body });
  expect(reply.status).toBe(200);
  return String(reply.body['data'].id);
}

async function rename(courier_customer_id: string, user_code: string, as = 'iex'): Promise<void> {
  const reply = await service.call('updateCustomer', { as, body: { courier_customer_id, user_code } });
  expect(reply.status).toBe(200);
}

async function remove(id: string): Promise<void> {
  expect((await service.call('deleteCustomer', { as: 'iex', query: { id } })).status).toBe(200);
}

/** Stores a pre-alert of IEX with a code that it cannot have any more, as an earlier release did during a rename. */
async function storeEarlier(userCode: string, { number = newNumber(), at = 'now()' } = {}): Promise<string> {
  const id = await parcels.announce('IEX', newNumber());
  await parcels.select(
    `update prealerts set user_code = $2, created_at = ${at}, tracking_number = $3, tracking_key = $3, status = 'pending'
     where id = $1`,
    [id, userCode, number],
  );
  return id;
}

/** The time of the database, as storeEarlier takes it. */
const now = async () =>
  `'${String((await parcels.select('select clock_timestamp()::text as at'))[0]?.['at'])}'`;

async function migrate(): Promise<void> {
  await parcels.select(
    `update installation.background_migrations set status = 'running', tenant_id = null, last_key = null, batch_rows = 3, findings = 0
     where name like '%_renamed_prealerts'`,
  );
  const stopping = new AbortController().signal;
  await runBackgroundMigrations({ db: service.db, stopping, log: pino({ level: 'silent' }) }, MIGRATIONS);
  const [done] = await parcels.select(
    `select status, last_error from installation.background_migrations where name like '%_renamed_prealerts'`,
  );
  expect(done).toEqual({ status: 'finished', last_error: null });
}

const actionsOf = async (id: string) =>
  (await parcels.auditOf(id))
    .map(({ action }) => String(action).replace('prealert.', ''))
    .filter((action) => action !== 'created');

test('pre-alerts get the present code of the one customer who had theirs, and the others are reported', async () => {
  const [code, last] = [newCode(), newCode()];
  const renamed = await makeCustomer(code);
  const received = newNumber();
  const during = { at: await now() };
  await rename(renamed, newCode());
  await rename(renamed, last);
  await parcels.receive(received, { user_code: last });
  const own = await storeEarlier(code, during);
  const late = await storeEarlier(code, { ...during, number: received });

  const reused = newCode();
  const first = await makeCustomer(reused);
  const duringFirst = { at: await now() };
  await rename(first, newCode());
  await rename(await makeCustomer(reused), newCode());
  const ambiguous = await storeEarlier(reused, duringFirst);

  const deletedCode = newCode();
  await remove(await makeCustomer(deletedCode));
  const outlived = await storeEarlier(deletedCode);

  const [before, again] = [newCode(), newCode()];
  const later = await makeCustomer(before);
  await rename(later, again);
  await rename(later, newCode());
  const tooEarly = await storeEarlier(again, { at: "now() - interval '1 day'" });
  const tooLate = await storeEarlier(again, { at: "now() + interval '1 day'" });

  const foreign = newCode();
  await rename(await makeCustomer(foreign, 'hrb'), newCode(), 'hrb');
  const others = await storeEarlier(foreign);
  const unknown = await storeEarlier(newCode());
  const kept = await parcels.announce('IEX', newNumber());

  await migrate();

  const changed = ['user_code_changed'];
  const reported = ['customer_unknown'];
  const expected: [id: string, code: unknown, status: string, actions: string[]][] = [
    [own, last, 'pending', changed],
    [late, last, 'received', ['user_code_changed', 'received']],
    [ambiguous, reused, 'pending', reported],
    [outlived, deletedCode, 'pending', []],
    [tooEarly, again, 'pending', reported],
    [tooLate, again, 'pending', reported],
    [others, foreign, 'pending', reported],
    [unknown, expect.stringMatching(/^CODE-/), 'pending', reported],
    [kept, 'IEX-1001', 'pending', []],
  ];
  const found = await Promise.all(
    expected.map(async ([id]) => {
      const { user_code: userCode, status } = await parcels.prealertRow(id);
      return [id, userCode, status, await actionsOf(id)];
    }),
  );
  expect(found).toEqual(expected);
  const [entry] = (await parcels.auditOf(own)).filter(
    ({ action }) => action === 'prealert.user_code_changed',
  );
  expect(entry).toMatchObject({ before: { user_code: code }, after: { user_code: last } });

  const findings = await withClient(service.owner.options.connectionString ?? '', (client) =>
    checkBackground({ client }),
  );
  expect(findings).toContainEqual({
    level: 'warning',
    message: expect.stringMatching(
      /_renamed_prealerts found 5 pre-alerts whose user code no customer has\.$/,
    ),
    remedy: expect.stringContaining('prealert.customer_unknown'),
  });

  // A second run changes nothing more.
  await migrate();
  expect(await actionsOf(own)).toEqual(changed);
  expect((await parcels.prealertRow(late))['status']).toBe('received');
  expect(await actionsOf(outlived)).toEqual([]);
});
