import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { answerWith, startSyncRig, TOKEN } from '../../../support/builders/customer-sync.js';
import { refuse } from '../../../support/receivers/receiver.js';
import { startService } from '../../../support/service/service.js';
import { withCustomerSync } from './synced-customers.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const { service, rig, customersOf, customer, auditsOf } = withCustomerSync();

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
