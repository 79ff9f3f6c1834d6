import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { failAbandonedRuns, scheduleCustomerSyncs } from '../../../src/modules/customers/sync/sync-run.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeOutboundClient } from '../../../src/platform/outbound/client.js';
import {
  answerWith,
  setSyncUrl,
  startSyncRig,
  TOKEN,
  type SyncRig,
} from '../../support/builders/customer-sync.js';
import { clone } from '../../support/builders/couriers.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { emptyQueue, waitingJobs } from '../../support/receivers/outbound.js';
import { freePort, until } from '../../support/service/processes.js';
import { hang, refuse, respondForever } from '../../support/receivers/receiver.js';
import { startService, type Call } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const { api, service } = withService();
beforeAll(async () => {
  rig = await startSyncRig(service());
}, 60_000);
afterAll(async () => {
  await rig.stop();
});
let rig: SyncRig;

beforeEach(() => rig.reset());

afterEach(async () => {
  await service().owner.query('delete from customer_sync_runs');
  await service().owner.query(
    "delete from customers where user_code not similar to '(IEX|HRB|TWO)-[0-9]{4}'",
  );
  await emptyQueue(service().owner);
});

const requestSync = (call: Call = {}) => api.with({ as: 'iex', ...call }).syncCustomers();
const log = (query: Record<string, string | number> = {}, as = 'iex') => api.as(as).listCustomerSyncs(query);

type Customer = {
  id: string;
  courier_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  email: string | null;
  is_active: boolean;
  updated_at: Date;
};

async function customersOf(courierId: string): Promise<Customer[]> {
  const { rows } = await service().owner.query<Customer>(
    'select * from customers where courier_id = $1 order by user_code',
    [courierId],
  );
  return rows;
}

async function customer(code: string, courierId: string = IEX): Promise<Customer | undefined> {
  const { rows } = await service().owner.query<Customer>(
    'select * from customers where courier_id = $1 and user_code = $2',
    [courierId, code],
  );
  return rows[0];
}

type Audit = {
  action: string;
  entity: string;
  entity_id: string;
  before: object;
  after: object;
  [key: string]: unknown;
};

async function auditsOf(requestId: string): Promise<Audit[]> {
  const { rows } = await service().owner.query<Audit>(
    'select * from audit_entries where request_id = $1 order by action, id',
    [requestId],
  );
  return rows;
}

describe('requesting a synchronisation', () => {
  test('queues a run with one job and records who requested it', async () => {
    const reply = await requestSync().ok();
    expect(reply).toMatchObject({ status: 200, body: { message: 'Synchronisation queued.' } });
    const { run_id: runId, created_at: _, ...rest } = reply.data;
    expect(rest).toEqual({
      courier_id: IEX,
      courier_name: 'Island Express',
      origin: 'request',
      status: 'queued',
      http_status: null,
      received: null,
      created: null,
      updated: null,
      unchanged: null,
      skipped: null,
      problems: [],
      error: null,
      started_at: null,
      finished_at: null,
    });
    expect(await waitingJobs(service().owner, 'syncCustomers')).toEqual([
      { tenantId: DEMO.tenants.demo, runId },
    ]);
    const audits = await auditsOf(String(reply.headers.get('x-request-id')));
    expect(audits).toMatchObject([
      {
        action: 'customer_sync.requested',
        entity: 'customer_sync',
        entity_id: runId,
        after: { courier_id: IEX },
        actor_kind: 'user',
        actor_id: DEMO.users.iex,
      },
    ]);
    const { rows } = await service().owner.query(
      'select requested_by from customer_sync_runs where id = $1',
      [runId],
    );
    expect(rows).toEqual([{ requested_by: DEMO.users.iex }]);
  });

  test.each(['queued', 'running'])(
    'returns the open run while one is %s and writes nothing',
    async (status) => {
      const first = await requestSync().ok();
      await service().owner.query('update customer_sync_runs set status = $1', [status]);
      const before = await fingerprint(service().owner);
      const second = await requestSync({ as: 'admin', body: { courier_id: IEX } }).ok();
      expect(second.message).toBe('A synchronisation of these customers is already queued or running.');
      expect(second.data).toEqual({ ...first.data, status });
      expect(await fingerprint(service().owner)).toEqual(before);
    },
  );

  test.each(['succeeded', 'failed'])('creates a new run after one has %s', async (status) => {
    const first = await requestSync().ok();
    await service().owner.query('update customer_sync_runs set status = $1', [status]);
    expect((await requestSync().ok()).data.run_id).not.toBe(first.data.run_id);
    expect(await waitingJobs(service().owner, 'syncCustomers')).toHaveLength(2);
  });

  test('staff name the courier, and a courier always uses its own account', async () => {
    for (const as of ['admin', 'manager'])
      expect(await requestSync({ as, body: { courier_id: IEX } }).answer()).toMatchObject({ status: 200 });
    for (const body of [undefined, {}, { courier_id: HRB }, { courier_id: TWO }])
      expect((await requestSync(body ? { body } : {}).ok()).data.courier_id).toBe(IEX);
    expect(await waitingJobs(service().owner, 'syncCustomers')).toHaveLength(1);
  });

  const unknown = '01930a3e-7c1d-7e11-9c5a-00000000dead';
  test.each<[string, Call, number, string]>([
    ['staff without a courier', { as: 'admin', body: {} }, 400, 'validation_failed'],
    ['staff without a body', { as: 'admin' }, 400, 'validation_failed'],
    ['a malformed id', { as: 'admin', body: { courier_id: 'IEX' } }, 400, 'validation_failed'],
    ['an unknown courier', { as: 'admin', body: { courier_id: unknown } }, 404, 'courier_not_found'],
    ['another tenant’s courier', { as: 'admin', body: { courier_id: TWO } }, 404, 'courier_not_found'],
    ['a named courier without a URL', { as: 'admin', body: { courier_id: HRB } }, 400, 'sync_url_missing'],
    ['a courier user without a URL', { as: 'hrb' }, 400, 'sync_url_missing'],
    ['a warehouse user', { as: 'warehouse', body: { courier_id: IEX } }, 403, 'permission_denied'],
    ['a disabled user', { as: 'disabled', body: { courier_id: IEX } }, 403, 'account_disabled'],
  ])('rejects %s and writes nothing', async (_who, call, status, code) => {
    const before = await fingerprint(service().owner);
    expect(await requestSync(call).answer()).toMatchObject({ status, body: { code } });
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('rejects anonymous callers and API keys with 401', async () => {
    for (const call of [{}, { key: DEMO.apiKeys.IEX }]) {
      expect(await api.with(call).syncCustomers().answer()).toMatchObject({ status: 401 });
      expect(await api.with(call).listCustomerSyncs().answer()).toMatchObject({ status: 401 });
    }
  });
});

describe('list of synchronisations', () => {
  /** Inserts finished runs of a courier and returns their ids, oldest first. */
  async function insertRows(
    count: number,
    courierId: string,
    tenantId: string = DEMO.tenants.demo,
  ): Promise<string[]> {
    const { rows } = await service().owner.query<{ id: string }>(
      `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, finished_at)
       select $1, new_id(), $2, 'schedule', (array['succeeded', 'failed'])[n % 2 + 1], now()
       from generate_series(1, $3::integer) n returning id`,
      [tenantId, courierId, count],
    );
    return rows.map(({ id }) => id).sort();
  }

  const idsOf = ({ data }: { data: { run_id: string }[] }) => data.map(({ run_id }) => run_id);

  test('is paged newest first and ends', async () => {
    const newestFirst = (await insertRows(45, IEX)).reverse();
    const first = await log().answer();
    expect([idsOf(first), first.meta]).toEqual([
      newestFirst.slice(0, 20),
      { limit: 20, next_before: newestFirst[19] },
    ]);
    const found: string[] = [];
    for (let before: string | null | undefined; before !== null;) {
      const page = await log({ limit: 7, ...(before ? { before } : {}) }).answer();
      found.push(...idsOf(page));
      before = page.meta.next_before;
    }
    expect(found).toEqual(newestFirst);
    // A page that ends with the last run has no next page.
    expect((await log({ limit: 45 }).ok()).meta).toEqual({ limit: 45, next_before: null });
  });

  test('staff see the runs of all couriers or one, couriers only their own', async () => {
    const [iex, hrb] = [await insertRows(3, IEX), await insertRows(2, HRB)];
    await insertRows(1, TWO, DEMO.tenants.two);
    for (const as of ['admin', 'manager', 'warehouse']) {
      expect(idsOf(await log({}, as).answer()).sort()).toEqual([...iex, ...hrb].sort());
      expect(idsOf(await log({ courier_id: HRB }, as).answer()).sort()).toEqual(hrb);
      expect(idsOf(await log({ courier_id: TWO }, as).answer())).toEqual([]);
    }
    expect(idsOf(await log({ courier_id: IEX }, 'hrb').answer()).sort()).toEqual(hrb);
  });

  test('filters by status and rejects invalid parameters', async () => {
    await insertRows(4, IEX);
    const failed = await log({ status: 'failed' }).ok();
    expect(failed.data.map(({ status }: { status: string }) => status)).toEqual(['failed', 'failed']);
    const refused: Record<string, string | number>[] = [
      { limit: 0 },
      { limit: 101 },
      { status: 'done' },
      { before: 'x' },
      { courier_id: 'x' },
    ];
    for (const query of refused) expect(await log(query).answer()).toMatchObject({ status: 400 });
  });
});

describe('processing a response', () => {
  const ANN = { user_code: 'NEW-1', first_name: 'Ann', last_name: 'Lee' };

  test('calls the URL once with the token and the accepted media type', async () => {
    await rig.sync([]);
    expect(rig.receiver.received).toHaveLength(1);
    expect(rig.receiver.received[0]).toMatchObject({
      path: '/customers?from=crossdock',
      body: '',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'x-api-key': TOKEN,
        accept: 'application/json',
        'user-agent': 'Crossdock',
      },
    });
  });

  test('sends no header with a token if there is no token', async () => {
    await service().owner.query('update couriers set api_token_cipher = null where id = $1', [IEX]);
    await rig.sync([]);
    const headers = rig.receiver.received[0]?.headers;
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('x-api-key');
  });

  test.each([404, 405])(
    'repeats the request as POST with the token in the body after %s to GET',
    async (status) => {
      rig.receiver.answer = (request, response) =>
        request.body === '' ? response.writeHead(status).end() : answerWith([ANN])(request, response);
      expect(await rig.sync()).toMatchObject({ status: 'succeeded', http_status: 200, created: 1 });
      const [get, post, another] = rig.receiver.received;
      expect([get?.body, another]).toEqual(['', undefined]);
      expect(post).toMatchObject({
        path: '/customers?from=crossdock',
        body: JSON.stringify({ APIToken: TOKEN }),
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'x-api-key': TOKEN,
          'content-type': 'application/json; charset=utf-8',
        },
      });
    },
  );

  test('reports the status of POST if that request was understood', async () => {
    rig.receiver.answer = (request, response) => response.writeHead(request.body === '' ? 405 : 401).end();
    expect(await rig.sync()).toMatchObject({
      status: 'failed',
      http_status: 401,
      error: expect.stringMatching(/api_token/),
    });
  });

  test('creates, updates and keeps customers, and audits every change', async () => {
    const [before, same] = [await customer('IEX-1001'), await customer('IEX-1002')];
    const total = (await customersOf(IEX)).length;
    const run = await rig.sync([
      { ...ANN, branch: 'Kingston', email: 'ann@example.com', is_active: 0 },
      { user_code: 'IEX-1001', first_name: 'Changed', last_name: before?.last_name, branch: before?.branch },
      { user_code: 'IEX-1002', first_name: same?.first_name, last_name: same?.last_name },
    ]);
    expect(run).toMatchObject({
      status: 'succeeded',
      http_status: 200,
      received: 3,
      created: 1,
      updated: 1,
      unchanged: 1,
      skipped: 0,
      problems: [],
      error: null,
      started_at: expect.any(String),
      finished_at: expect.any(String),
    });
    const [created, changed] = [await customer('NEW-1'), await customer('IEX-1001')];
    const fields = { ...ANN, branch: 'Kingston', email: 'ann@example.com', is_active: false };
    expect(created).toMatchObject({ courier_id: IEX, ...fields });
    expect(changed).toEqual({ ...before, first_name: 'Changed', updated_at: expect.any(Date) });
    expect(Number(changed?.updated_at)).toBeGreaterThan(Number(before?.updated_at));
    expect(await customer('IEX-1002')).toEqual(same);
    // No customer is deleted.
    expect(await customersOf(IEX)).toHaveLength(total + 1);
    const { email, is_active, branch, last_name } = before ?? {};
    const stored = { user_code: 'IEX-1001', last_name, branch, email, is_active };
    const columns = ['user_code', 'first_name', 'last_name', 'branch', 'email', 'is_active'];
    const valuesOf = (row: Record<string, unknown>) => columns.map((column) => row[column]);
    expect(await auditsOf(run['run_id'])).toMatchObject([
      {
        action: 'customers.synchronised',
        entity: 'courier',
        entity_id: IEX,
        before: { columns, updated: [valuesOf({ ...stored, first_name: before?.first_name })] },
        after: {
          columns,
          part: 1,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          created: [valuesOf(fields)],
          updated: [valuesOf({ ...stored, first_name: 'Changed' })],
        },
        actor_kind: 'system',
        actor_id: null,
        remarks: 'sync',
      },
    ]);
    expect(await auditsOf(run['run_id'])).toHaveLength(1);
  });

  test('changes nothing if the response is unchanged', async () => {
    const answer = [ANN, { user_code: 'IEX-1001', first_name: 'Once', branch: 'There' }];
    await rig.sync(answer);
    const before = await customersOf(IEX);
    const again = await rig.sync(answer);
    expect(again).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
    expect(await customersOf(IEX)).toEqual(before);
    expect(await auditsOf(again['run_id'])).toEqual([]);
  });

  test('deletes no customers if the list is empty', async () => {
    const before = await customersOf(IEX);
    expect(await rig.sync([])).toMatchObject({ status: 'succeeded', received: 0, updated: 0 });
    expect(await customersOf(IEX)).toEqual(before);
  });

  const FULL = { ...ANN, branch: 'Kingston', email: 'ann@example.com', is_active: 1 };
  const STORED = { ...FULL, is_active: true };
  test.each<[string, object, object]>([
    ['missing fields are kept', {}, {}],
    ['one name can change alone', { last_name: 'Li' }, { last_name: 'Li' }],
    ['a null name is ignored', { first_name: null, last_name: null }, {}],
    ['a blank branch is cleared', { branch: ' ' }, { branch: null }],
    ['a null branch is cleared', { branch: null }, { branch: null }],
    ['a blank e-mail address is cleared', { email: '' }, { email: null }],
    ['a null e-mail address is cleared', { email: null }, { email: null }],
    ['a null or blank flag is ignored', { is_active: null, status: '' }, {}],
    ['the flag can change alone', { is_active: 0 }, { is_active: false }],
    ['texts are trimmed', { branch: '  Portmore\u00a0' }, { branch: 'Portmore' }],
  ])('applies the rule: %s', async (_title, sent, expected) => {
    await rig.sync([FULL]);
    await rig.sync([{ user_code: 'NEW-1', ...sent }]);
    expect(await customer('NEW-1')).toMatchObject({ ...STORED, ...expected });
  });

  test('creates customers as active and without a branch by default', async () => {
    await rig.sync([ANN]);
    expect(await customer('NEW-1')).toMatchObject({ branch: null, email: null, is_active: true });
  });

  test('uses the last valid record of a repeated code', async () => {
    const run = await rig.sync([
      { ...ANN, first_name: 'First', branch: 'A' },
      { ...ANN, first_name: 'Last' },
      { ...ANN, first_name: '' },
    ]);
    expect(run).toMatchObject({ received: 3, created: 1, skipped: 2 });
    expect(run['problems']).toEqual([
      {
        index: 0,
        field: 'user_code',
        code: 'repeated',
        message: 'Record 0: user_code appears again further down in the list. The last record counts.',
      },
      { index: 2, field: 'first_name', code: 'blank', message: 'Record 2: first_name must not be blank.' },
    ]);
    expect(await customer('NEW-1')).toMatchObject({ first_name: 'Last', branch: null });
  });

  test('treats codes that differ in case as two customers', async () => {
    expect(await rig.sync([ANN, { ...ANN, user_code: 'new-1' }])).toMatchObject({ created: 2 });
  });

  test('logs ids and counts, but neither the token nor the data', async () => {
    const run = await rig.sync([{ ...ANN, first_name: 'Confidential' }]);
    rig.receiver.answer = refuse(500, 'Confidential');
    const failed = await rig.sync();
    expect(rig.logged).toMatchObject([
      { runId: run['run_id'], courierId: IEX, tenantId: DEMO.tenants.demo, httpStatus: 200, created: 1 },
      { runId: failed['run_id'], httpStatus: 500, error: failed['error'] },
    ]);
    const text = JSON.stringify(rig.logged);
    for (const secret of [TOKEN, 'Confidential', 'crossdock', 'NEW-1']) expect(text).not.toContain(secret);
  });
});

describe('accepted field names', () => {
  const BASE = { user_code: 'SP-1', first_name: 'Ann', last_name: 'Lee' };
  const without = (name: keyof typeof BASE) => {
    const { [name]: _, ...rest } = BASE;
    return rest;
  };

  const CODES =
    'user_code userCode UserCode usercode USER_CODE User-Code code Code customer_code customerCode account Account account_number accountNumber mailbox mailboxNumber';
  test.each(CODES.split(' ').concat('User Code', ' user code '))('reads the code from %s', async (name) => {
    expect(await rig.sync([{ ...without('user_code'), [name]: 'SP-1' }])).toMatchObject({
      created: 1,
      skipped: 0,
    });
    expect(await customer('SP-1')).toMatchObject(BASE);
  });

  test.each([
    ...['first_name', 'firstName', 'firstname', 'FirstName', 'FIRST-NAME', 'given_name', 'givenName'].map(
      (name) => ['first_name', name] as const,
    ),
    ...[
      'last_name',
      'lastName',
      'lastname',
      'LastName',
      'surname',
      'Surname',
      'family_name',
      'familyName',
    ].map((name) => ['last_name', name] as const),
  ])('reads %s from %s', async (field, name) => {
    await rig.sync([{ ...without(field), [name]: 'Spelt' }]);
    expect(await customer('SP-1')).toMatchObject({ ...BASE, [field]: 'Spelt' });
  });

  test.each(
    ['branch', 'Branch', 'location', 'pickup_location', 'pickupLocation', 'pickup', 'PickUp'].map((name) => [
      name,
    ]),
  )('reads the branch from %s', async (name) => {
    await rig.sync([{ ...BASE, [name]: 'Portmore' }]);
    expect(await customer('SP-1')).toMatchObject({ ...BASE, branch: 'Portmore' });
  });

  test.each(['email', 'Email', 'e_mail', 'E-Mail', 'emailAddress', 'email_address'])(
    'reads the email address from %s',
    async (name) => {
      await rig.sync([{ ...BASE, [name]: 'ann@example.com' }]);
      expect(await customer('SP-1')).toMatchObject({ ...BASE, email: 'ann@example.com' });
    },
  );

  test('reads the active flag from every field name with every value', async () => {
    const values = {
      true: [1, true, '1', 'true', 'TRUE', 'active', 'Active', 'enabled', 'yes', ' Yes '],
      false: [0, false, '0', 'false', 'inactive', 'Inactive', 'disabled', 'no', 'NO'],
    };
    const cases = ['is_active', 'isActive', 'active', 'status', 'Status'].flatMap((name) =>
      Object.entries(values).flatMap(([is, each]) =>
        each.map((value) => ({ name, value, is: is === 'true' })),
      ),
    );
    const records = cases.map(({ name, value }, n) => ({ ...BASE, user_code: `SP-${n + 1}`, [name]: value }));
    expect(await rig.sync(records)).toMatchObject({ created: cases.length, skipped: 0 });
    const stored = new Map((await customersOf(IEX)).map((row) => [row.user_code, row.is_active]));
    for (const [n, { name, value, is }] of cases.entries())
      expect([name, value, stored.get(`SP-${n + 1}`)]).toEqual([name, value, is]);
  });

  test.each([
    ['name', 'Ann Lee', 'Ann', 'Lee'],
    ['Name', 'Mary Jane  Watson', 'Mary Jane', 'Watson'],
    ['full_name', ' José María Núñez ', 'José María', 'Núñez'],
    ['fullName', 'Ann\u00a0Lee', 'Ann', 'Lee'],
  ])('splits a full name in %s: %s', async (name, whole, first_name, last_name) => {
    await rig.sync([{ user_code: 'SP-1', [name]: whole }]);
    expect(await customer('SP-1')).toMatchObject({ first_name, last_name });
  });

  test('uses the full name only for a missing first or last name', async () => {
    await rig.sync([
      { user_code: 'SP-1', first_name: 'Ann', name: 'Lee' },
      { user_code: 'SP-2', first_name: 'Ann', last_name: 'Lee', name: 'Other Person' },
      { user_code: 'SP-3', last_name: 'Lee', name: 'Mary Ann Lee' },
    ]);
    expect(await customer('SP-1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
    expect(await customer('SP-2')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
    expect(await customer('SP-3')).toMatchObject({ first_name: 'Mary Ann', last_name: 'Lee' });
  });

  test('rejects a full name of one word', async () => {
    const run = await rig.sync([{ user_code: 'SP-1', name: 'Cher' }]);
    expect(run).toMatchObject({ skipped: 1, problems: [{ field: 'first_name', code: 'blank' }] });
  });

  test('prefers the field name that is documented first, unless its value is null', async () => {
    await rig.sync([
      { code: 'WRONG', ...BASE, mailbox: 'WRONG', location: 'L', branch: 'B' },
      { ...BASE, user_code: null, mailbox: 'M', code: 'SP-2', branch: null, pickup: 'P' },
    ]);
    expect(await customer('SP-1')).toMatchObject({ branch: 'B' });
    expect(await customer('SP-2')).toMatchObject({ branch: 'P' });
    expect(await customer('WRONG')).toBeUndefined();
  });

  test.each(['data', 'customers', 'results', 'items', 'records', 'Customers', 'DATA'])(
    'accepts the list inside an object under %s',
    async (name) => {
      const before = await rig.sync({
        status: 'success',
        [name]: [BASE],
        meta: { total: 1, pages: {} },
        next: null,
      });
      expect(before).toMatchObject({ status: 'succeeded', created: 1 });
    },
  );
});

describe('the record of other warehouses', () => {
  const RECORD = {
    UserCode: 'SP-1',
    FirstName: 'Courtney',
    LastName: 'Patterson',
    Email: 'courtney@example.com',
    Phone: '+1 876 555 0100',
    Branch: 'Down Town',
    MailboxNumber: 'MB-77',
    Address: { street: '1 King Street', city: 'Kingston', state: '', zipCode: '', country: 'Jamaica' },
  };
  const STORED = {
    user_code: 'SP-1',
    first_name: 'Courtney',
    last_name: 'Patterson',
    email: 'courtney@example.com',
    branch: 'Down Town',
  };

  test.each<[string, object]>([
    ['a bare array', [RECORD]],
    ['an object with data', { data: [RECORD] }],
    ['an object with customers', { customers: [RECORD] }],
    ['an object with Customers', { Customers: [RECORD], Total: 1 }],
  ])('is accepted in %s', async (_title, sent) => {
    expect(await rig.sync(sent)).toMatchObject({ status: 'succeeded', created: 1, skipped: 0, problems: [] });
    expect(await customer('SP-1')).toMatchObject(STORED);
    expect(await customer('MB-77')).toBeUndefined();
  });

  test.each<[string, (name: string) => string]>([
    ['camelCase', (name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`],
    ['snake_case', (name) => name.replace(/(?!^)(?=[A-Z])/g, '_').toLowerCase()],
    ['upper case', (name) => name.toUpperCase()],
    ['lower case', (name) => name.toLowerCase()],
  ])('is accepted with names in %s', async (_title, spell) => {
    const record = Object.fromEntries(Object.entries(RECORD).map(([name, value]) => [spell(name), value]));
    expect(await rig.sync([record])).toMatchObject({ created: 1, skipped: 0, problems: [] });
    expect(await customer('SP-1')).toMatchObject(STORED);
  });

  test('needs only a code and the names, and MailboxNumber is the code if there is no UserCode', async () => {
    const { MailboxNumber, FirstName, LastName } = RECORD;
    const run = await rig.sync([{ MailboxNumber, FirstName, LastName, Address: null, Phone: null }]);
    expect(run).toMatchObject({ created: 1, skipped: 0 });
    expect(await customer('MB-77')).toMatchObject({ first_name: 'Courtney', email: null, branch: null });
  });
});

describe('invalid records', () => {
  const BASE = { user_code: 'BAD-1', first_name: 'Ann', last_name: 'Lee' };
  const long = 'x'.repeat(101);
  type Case = [title: string, record: unknown, problems: [field: string | null, code: string][]];
  const CASES: Case[] = [
    ['null', null, [[null, 'type']]],
    ['a number', 7, [[null, 'type']]],
    ['a text', 'BAD-1', [[null, 'type']]],
    ['a list', [BASE], [[null, 'type']]],
    ['an empty object', {}, [['user_code', 'required']]],
    ['no code', { ...BASE, user_code: undefined }, [['user_code', 'required']]],
    ['a null code', { ...BASE, user_code: null }, [['user_code', 'required']]],
    ['a blank code', { ...BASE, user_code: ' \t' }, [['user_code', 'blank']]],
    ['a code that is a fraction', { ...BASE, user_code: 17.5 }, [['user_code', 'type']]],
    ['a code that is a negative number', { ...BASE, user_code: -17 }, [['user_code', 'type']]],
    ['a code that is too large a number', { ...BASE, user_code: 2 ** 53 }, [['user_code', 'type']]],
    ['a code that is a boolean', { ...BASE, user_code: true }, [['user_code', 'type']]],
    ['a code that is a list', { ...BASE, user_code: ['BAD-1'] }, [['user_code', 'type']]],
    ['a code that is an object', { ...BASE, user_code: { a: 1 } }, [['user_code', 'type']]],
    ['a code that is too long', { ...BASE, user_code: long }, [['user_code', 'maxLength']]],
    ['a code of 101 emoji', { ...BASE, user_code: '😀'.repeat(101) }, [['user_code', 'maxLength']]],
    ['NUL', { ...BASE, first_name: 'A\0B' }, [['first_name', 'pattern']]],
    ['a line break', { ...BASE, last_name: 'A\nB' }, [['last_name', 'pattern']]],
    ['control characters that separate rows', { ...BASE, branch: 'A\x1eB\x1f\x1d' }, [['branch', 'pattern']]],
    ['a lone surrogate', { ...BASE, first_name: 'A\ud800' }, [['first_name', 'encoding']]],
    ['a name that is too long', { ...BASE, last_name: long }, [['last_name', 'maxLength']]],
    ['a name that is a boolean', { ...BASE, first_name: true }, [['first_name', 'type']]],
    ['a new customer without names', { user_code: 'BAD-1' }, [['first_name', 'required']]],
    ['a new customer with one name', { ...BASE, last_name: undefined }, [['last_name', 'required']]],
    ['a branch that is too long', { ...BASE, branch: long }, [['branch', 'maxLength']]],
    ['a branch that is an object', { ...BASE, branch: { name: 'K' } }, [['branch', 'type']]],
    ['an invalid email address', { ...BASE, email: 'nobody' }, [['email', 'pattern']]],
    [
      'an email address that is too long',
      { ...BASE, email: `${'x'.repeat(243)}@example.com` },
      [['email', 'maxLength']],
    ],
    ['a flag that is another number', { ...BASE, is_active: 2 }, [['is_active', 'enum']]],
    ['a flag that is another word', { ...BASE, status: 'gold' }, [['is_active', 'enum']]],
    ['a flag that is a list', { ...BASE, active: [1] }, [['is_active', 'enum']]],
    [
      'a whole name that is a number',
      { user_code: 'BAD-1', name: 5 },
      [
        ['first_name', 'type'],
        ['last_name', 'type'],
      ],
    ],
    [
      'several invalid fields',
      { ...BASE, first_name: '', branch: 1 },
      [
        ['first_name', 'blank'],
        ['branch', 'type'],
      ],
    ],
    ['a record of more than 64 KiB', { ...BASE, notes: 'x'.repeat(65_536) }, [[null, 'maxLength']]],
  ];

  test.each(CASES)('reports %s and stores the other records', async (_title, record, problems) => {
    const good = { user_code: 'GOOD', first_name: 'G', last_name: 'D' };
    const before = await customersOf(IEX);
    const run = await rig.sync([record, good]);
    expect(run).toMatchObject({ status: 'succeeded', received: 2, created: 1, unchanged: 0, skipped: 1 });
    expect(
      run['problems'].map(({ index, field, code }: Record<string, unknown>) => [index, field, code]),
    ).toEqual(problems.map(([field, code]) => [0, field, code]));
    expect((await customersOf(IEX)).filter(({ user_code }) => user_code !== 'GOOD')).toEqual(before);
  });

  test('a code that is a whole number is read as its digits, and finds its customer again', async () => {
    const records = [{ ...BASE, user_code: 91_700_017 }];
    expect(await rig.sync(records)).toMatchObject({ created: 1, skipped: 0, problems: [] });
    expect(await customer('91700017')).toMatchObject({ first_name: 'Ann' });
    expect(await rig.sync(records)).toMatchObject({ status: 'succeeded', created: 0, unchanged: 1 });
  });

  test('a run whose records were all skipped has failed, with its counts and problems', async () => {
    const before = await customersOf(IEX);
    const run = await rig.sync([{ ...BASE, user_code: '' }, { user_code: 'BAD-2' }]);
    expect(run).toMatchObject({
      status: 'failed',
      error: 'None of the 2 records could be stored. Correct what problems lists, then synchronise again.',
      received: 2,
      created: 0,
      updated: 0,
      unchanged: 0,
      skipped: 2,
      problems: [
        { index: 0, code: 'blank' },
        { index: 1, code: 'required' },
      ],
    });
    expect(await customersOf(IEX)).toEqual(before);
    expect(await rig.sync([])).toMatchObject({ status: 'succeeded', received: 0, error: null });
  });

  test('accepts values at their maximum length', async () => {
    const [text, email] = ['😀'.repeat(100), `${'x'.repeat(242)}@example.com`];
    const record = { user_code: text, first_name: text, last_name: text, branch: text, email };
    expect(await rig.sync([record])).toMatchObject({ created: 1, skipped: 0 });
    expect(await customer(text)).toMatchObject(record);
  });

  test('reports the first hundred in order and counts all', async () => {
    const records = Array.from({ length: 250 }, (_, n) =>
      n % 2
        ? { user_code: `BAD-${n}` }
        : { user_code: `BAD-${n}`, first_name: 'A', last_name: 'B', branch: 1 },
    );
    const run = await rig.sync(records);
    expect(run).toMatchObject({ received: 250, skipped: 250, created: 0 });
    expect(run['problems'].map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 100 }, (_, n) => n),
    );
  });
});

describe('scope', () => {
  test.each([
    ['both layers', {}],
    ['row-level security alone', { applicationFilters: false }],
    ['the application’s filters alone', { rowSecurity: false }],
  ])("with %s, writes only customers of the run's own courier", async (_name, options) => {
    const isolated = await startService(options);
    const isolatedRig = await startSyncRig(isolated);
    try {
      const othersOf = async () =>
        (await isolated.owner.query('select * from customers where courier_id <> $1 order by id', [IEX]))
          .rows;
      const before = await othersOf();
      const foreign = {
        courier_id: HRB,
        courierId: HRB,
        tenant_id: DEMO.tenants.two,
        id: DEMO.couriers.HRB,
      };
      const run = await isolatedRig.sync([
        { user_code: 'HRB-2001', first_name: 'A', last_name: 'B', ...foreign },
        { user_code: 'TWO-3001', first_name: 'A', last_name: 'B', courier_customer_id: DEMO.couriers.TWO },
        { user_code: 'IEX-1001', first_name: 'A', last_name: 'B', courier_id: TWO },
        { user_code: 'HRB-2002', branch: 'Nowhere', ...foreign },
      ]);
      expect(run).toMatchObject({ created: 2, updated: 1, skipped: 1 });
      expect(await othersOf()).toEqual(before);
    } finally {
      await isolatedRig.stop();
      await isolated.stop();
    }
  });
});

describe('failing targets', () => {
  async function expectFailed(words: RegExp, httpStatus: number | null): Promise<void> {
    const before = await customersOf(IEX);
    const run = await rig.sync();
    expect(run).toMatchObject({
      status: 'failed',
      http_status: httpStatus,
      error: expect.stringMatching(words),
      received: null,
      skipped: null,
      problems: [],
      finished_at: expect.any(String),
    });
    expect(await customersOf(IEX)).toEqual(before);
  }

  test.each([
    [301, /301.*Redirects are not followed/],
    [302, /302.*Redirects are not followed/],
    [400, /400\. Look for the error in the log/],
    [401, /401.*api_token/],
    [403, /403.*api_token/],
    [404, /404.*api_url_get_customers/],
    [405, /405.*api_url_get_customers/],
    [500, /500\. Look for the error in the log/],
    [503, /503\. Look for the error in the log/],
  ])('HTTP %s fails the run with a message that says what to change', async (status, words) => {
    rig.receiver.answer = (_request, response) =>
      response.writeHead(status, { location: `${rig.receiver.url}/elsewhere` }).end('[]');
    await expectFailed(words, status);
    // After 404 and 405 the request was repeated as POST.
    expect(rig.receiver.received).toHaveLength(status === 404 || status === 405 ? 2 : 1);
  });

  test('fails the run if the connection is refused', async () => {
    await setSyncUrl(service(), `http://127.0.0.1:${await freePort()}/customers`);
    await expectFailed(/./, null);
  });

  test('fails the run if the connection breaks off', async () => {
    rig.receiver.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('[{"user_code":"CUT"');
      setTimeout(() => response.destroy(), 50);
    };
    const run = await rig.sync();
    expect(run).toMatchObject({ status: 'failed', error: expect.any(String) });
    expect(await customer('CUT')).toBeUndefined();
  });

  test('stops reading an endless response after 20 MiB', async () => {
    rig.receiver.answer = respondForever;
    await expectFailed(/longer than 20 MiB/, 200);
  });

  test('times out after 30 seconds without a response', async () => {
    rig.receiver.answer = hang;
    const { run_id: runId } = (await requestSync().ok()).data;
    const real = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
    const limits: number[] = [];
    await rig.work(runId, {
      ...real,
      send(request) {
        limits.push(request.timeoutMs);
        return real.send({ ...request, timeoutMs: 300 });
      },
    });
    await real.close();
    expect(limits).toEqual([30_000]);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'failed', error: expect.any(String) });
  });

  test('does not call an address of a private network', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    const strict = makeOutboundClient({ allowLoopback: false, dnsServers: [] });
    await rig.work(runId, strict);
    await strict.close();
    expect(await rig.runOf(runId)).toMatchObject({ status: 'failed', http_status: null });
    expect(rig.receiver.received).toEqual([]);
  });

  test('fails the run if the URL was removed meanwhile', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    await setSyncUrl(service(), null);
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({
      status: 'failed',
      error: 'api_url_get_customers is no longer set.',
    });
  });
});

describe('run and job', () => {
  const ANN = { user_code: 'JOB-1', first_name: 'Ann', last_name: 'Lee' };

  test('the next worker restarts a run whose worker was killed', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    await service().owner.query(
      "update customer_sync_runs set status = 'running', started_at = now() - interval '5 minutes'",
    );
    rig.receiver.answer = (_request, response) => response.end(JSON.stringify([ANN]));
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'succeeded', created: 1 });
  });

  test('a repeated job does nothing', async () => {
    const run = await rig.sync([ANN]);
    const before = await fingerprint(service().owner);
    await rig.work(run['run_id']);
    expect(rig.receiver.received).toHaveLength(1);
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('a database error fails the job but not the run, and the retry completes it', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    rig.receiver.answer = (_request, response) =>
      response.end(JSON.stringify([ANN, { ...ANN, user_code: 'JOB-2' }]));
    await service().owner.query(`create function break_it() returns trigger language plpgsql as
      $$ begin if new.user_code = 'JOB-2' then raise exception 'broken'; end if; return new; end $$;
      create trigger break_it before insert on customers for each row execute function break_it()`);
    await expect(rig.work(runId)).rejects.toThrow('broken');
    await service().owner.query('drop trigger break_it on customers; drop function break_it');
    expect(await rig.runOf(runId)).toMatchObject({ status: 'running', created: null });
    expect(await customer('JOB-1')).toBeUndefined();
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'succeeded', created: 2 });
  });

  test('a run that was abandoned during the response stores nothing', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    rig.receiver.answer = (_request, response) => {
      void service()
        .owner.query(
          "update customer_sync_runs set status = 'failed', error = 'given up', finished_at = now()",
        )
        .then(() => response.end(JSON.stringify([ANN])));
    };
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'failed', error: 'given up', created: null });
    expect(await customer('JOB-1')).toBeUndefined();
  });

  const failAbandoned = (tenantId: string) =>
    failAbandonedRuns(makeContext(service().db, { kind: 'system', tenantId }, 'a-job'));

  test('runs that are open for more than an hour are abandoned, and a new one can start', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    const open = async (status: string, minutes: number, isStarted: boolean) => {
      await service().owner.query(
        `update customer_sync_runs set status = $1, created_at = now() - make_interval(mins => $2),
           started_at = case when $3 then now() - make_interval(mins => $2) end`,
        [status, minutes, isStarted],
      );
      return failAbandoned(DEMO.tenants.demo);
    };
    expect(await open('queued', 59, false)).toBe(0);
    expect(await open('running', 59, true)).toBe(0);
    expect(await open('succeeded', 90, true)).toBe(0);
    expect(await failAbandoned(DEMO.tenants.two)).toBe(0);
    for (const [status, isStarted] of [
      ['queued', false],
      ['running', true],
    ] as const) {
      expect(await open(status, 61, isStarted)).toBe(1);
      expect(await rig.runOf(runId)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('did not end within an hour'),
        finished_at: expect.any(String),
      });
    }
    // A run that waited long and has just started.
    await service().owner.query(
      "update customer_sync_runs set status = 'running', created_at = now() - interval '2 hours', started_at = now()",
    );
    expect(await failAbandoned(DEMO.tenants.demo)).toBe(0);
    await service().owner.query("update customer_sync_runs set status = 'failed'");
    expect((await requestSync().ok()).message).toBe('Synchronisation queued.');
  });
});

describe('schedule', () => {
  const openRuns = async () =>
    (
      await service().owner.query<{
        id: string;
        courier_id: string;
        origin: string;
        requested_by: string | null;
      }>(
        "select id, courier_id, origin, requested_by from customer_sync_runs where status = 'queued' order by id",
      )
    ).rows;

  test('queues one run per active courier with a URL in every tenant, spread over ten minutes, and never a second one', async () => {
    await setSyncUrl(service(), 'https://two.example/customers', TWO);
    const copies = Array.from({ length: 40 }, (_, n) => ({ code: `S${n}`, is_active: n !== 0 }));
    const ids: string[] = [];
    for (const { code, is_active } of copies)
      ids.push(
        await clone(service().owner, 'couriers', IEX, {
          code,
          is_active,
          api_key_hash: null,
          api_key_cipher: null,
        }),
      );
    try {
      // One copy is inactive, HRB has no URL, and IEX already has an open run.
      const requested = (await requestSync().ok()).data;
      await emptyQueue(service().owner);
      await scheduleCustomerSyncs({ db: service().db });
      const runs = await openRuns();
      expect(runs.map(({ courier_id }) => courier_id).sort()).toEqual([IEX, TWO, ...ids.slice(1)].sort());
      const { id: ownId } = runs.find(({ courier_id }) => courier_id === IEX) ?? {};
      expect(ownId).toBe(requested.run_id);
      const scheduled = runs.filter(({ id }) => id !== ownId);
      expect(new Set(scheduled.map(({ origin, requested_by }) => `${origin} ${requested_by}`))).toEqual(
        new Set(['schedule null']),
      );
      const jobs = await waitingJobs(service().owner, 'syncCustomers');
      expect(jobs.map(({ runId }) => runId).sort()).toEqual(scheduled.map(({ id }) => id).sort());
      expect(jobs.filter(({ tenantId }) => tenantId === DEMO.tenants.two)).toHaveLength(1);
      const { rows } = await service().owner.query<{ least: number; most: number }>(
        `select extract(epoch from min(run_at) - now())::float as least, extract(epoch from max(run_at) - now())::float as most
         from graphile_worker._private_jobs`,
      );
      expect(rows[0]?.least).toBeGreaterThan(-10);
      expect(rows[0]?.most).toBeLessThanOrEqual(600);
      // Random, but 40 delays of less than a minute each have a probability of 10^-40.
      expect(rows[0]?.most).toBeGreaterThan(60);
      await scheduleCustomerSyncs({ db: service().db });
      expect(await openRuns()).toEqual(runs);
      expect(await waitingJobs(service().owner, 'syncCustomers')).toHaveLength(jobs.length);
    } finally {
      await service().owner.query('delete from couriers where id = any($1)', [ids]);
      await setSyncUrl(service(), null, TWO);
    }
  });
});

test('a worker executes a requested synchronisation', async () => {
  const working = await startService({ worker: true });
  const system = await startSyncRig(working);
  try {
    system.receiver.answer = (_request, response) =>
      response.end(JSON.stringify([{ user_code: 'WORK-1', first_name: 'A', last_name: 'B' }]));
    const { run_id: runId } = (await working.call('syncCustomers', { as: 'iex' })).body['data'];
    await until(async () => (await system.runOf(runId))['status'] === 'succeeded', 30_000);
    expect(await system.runOf(runId)).toMatchObject({ http_status: 200, received: 1, created: 1 });
  } finally {
    await system.stop();
    await working.stop();
  }
}, 60_000);
