import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BOUNDS_OF, QUOTAS, UNMETERED } from '../../../../generated/bounds.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import type { OperationId } from '../../../../src/platform/contract/types.js';
import { makeCouriers, type Belongings } from '../../../support/builders/couriers.js';
import { operationOf } from '../../../support/service/contract.js';
import { startService, type Call, type Service } from '../../../support/service/service.js';
import { CALLS } from '../../authorization/calls.js';
import { rows as matrixRows } from '../../authorization/matrix.js';
import { SMALL, callUntilRefused, newCustomer, useUp } from './use-up.js';

const isRead = (id: OperationId) =>
  operationOf(id).method === 'GET' || Object.values(BOUNDS_OF[id] ?? {}).join() === 'read';

const file = (name: string) => ({ file: `${name},user_code\nX-1,IEX-1001\n` });

/** A request of each line of the table of reads. */
const READS: [OperationId, Call][] = [
  ['listPackages', { body: { limit: 10 } }],
  ['verifyAuditLog', { body: { action: 'verify' } }],
  [
    'manageWebhookDeliveries',
    {
      body: {
        ...{ action: 'redeliver_matching', from: '2026-01-01 00:00:00', dry_run: true },
        courier_id: DEMO.couriers.IEX,
      },
    },
  ],
  [
    'uploadPrealerts',
    { form: { file: file('tracking_number'), target_courier_id: DEMO.couriers.IEX, dry_run: 'true' } },
  ],
  [
    'uploadCustomers',
    {
      form: {
        file: { file: 'user_code,first_name,last_name\nIEX-1001,Ana,Castillo\n' },
        target_courier_id: DEMO.couriers.IEX,
        dry_run: 'true',
      },
    },
  ],
];

describe('with a used-up allowance', () => {
  let service: Service;
  let iex: Belongings;

  beforeAll(async () => {
    service = await startService({ env: SMALL });
    iex = (await makeCouriers(service.owner)).IEX;
  });

  afterAll(async () => {
    await service.stop();
  });

  test('every GET and every POST that only reads answers as before', async () => {
    const cases = matrixRows.filter(
      ({ operation, expected }) => isRead(operation) && expected.admins[0] === 200,
    );
    const calls: [string, OperationId, Call][] = [];
    for (const { operation, title } of cases)
      calls.push([title, operation, { ...(await CALLS[title](iex, iex, service)), as: 'admin' }]);
    for (const [operation, call] of READS)
      calls.push([`${operation} that reads`, operation, { ...call, as: 'admin' }]);
    expect(calls.length).toBeGreaterThan(60);
    expect(READS.map(([id]) => id)).toEqual(Object.keys(UNMETERED.reads));
    const read = async () => {
      const statuses: [string, number][] = [];
      for (const [title, operation, call] of calls)
        statuses.push([title, (await service.call(operation, call)).status]);
      return statuses;
    };
    const before = await read();
    expect(before.filter(([, status]) => status !== 200)).toEqual([]);
    await useUp(service);
    expect(await read()).toEqual(before);
  });

  test('no field turns a request that writes into one that only reads', async () => {
    await useUp(service);
    const dispatch = { courierID: DEMO.couriers.IEX, dry_run: true };
    const test = { action: 'send_test', endpoint: 'add_package', courier_id: DEMO.couriers.IEX };
    const calls: [OperationId, object][] = [
      ['listPackages', { ...dispatch, action: 'queue_dispatch' }],
      ['queueDispatch', dispatch],
      ['manageWebhookDeliveries', { ...test, dry_run: true }],
      ['manageTeam', { action: 'enable', user_id: iex.userId, is_active: false }],
      ['updateCourierSettings', { phone: '+1 305 555 0100', dry_run: true }],
    ];
    const statuses = [];
    for (const [operation, body] of calls) {
      const addressed = operation === 'updateCourierSettings' ? { query: { id: DEMO.couriers.IEX } } : {};
      statuses.push((await service.call(operation, { as: 'admin', body, ...addressed })).status);
    }
    expect(statuses).toEqual([429, 429, 429, 429, 429]);
  });
});

describe('what takes access away', () => {
  let service: Service;
  let endings: [OperationId, Call][];

  const countAudited = async () => {
    const { rows } = await service.owner.query<{ n: number }>('select count(*)::int as n from audit_entries');
    return rows[0]?.n ?? 0;
  };

  const created = async (operation: OperationId, body: object, as: string) => {
    const reply = await service.call(operation, { as, body });
    if (reply.status >= 300) throw new Error(reply.bytes.toString());
    return reply.body['data'];
  };

  beforeAll(async () => {
    service = await startService({ env: SMALL });
    const member = { full_name: 'F', role: 'courier', courier_id: DEMO.couriers.IEX };
    const [one, two] = [
      await created(
        'manageTeam',
        { ...member, action: 'create', username: 'iex.one', courier_role: 'member' },
        'iex',
      ),
      await created('manageUsers', { ...member, action: 'create', username: 'two' }, 'admin'),
    ];
    const token = { name: 'T', scopes: ['packages:read'], current_password: DEMO.password };
    const made = await created('manageServiceTokens', { ...token, action: 'create' }, 'iex');
    await created('manageSandbox', { action: 'create' }, 'iex');
    const { feed } = await created('manageFeeds', { action: 'create', kind: 'easypost', name: 'F' }, 'iex');
    const [packageId] = DEMO.packages.shipped.IEX;
    await created('manageTrackingLinks', { action: 'create', package_id: packageId }, 'iex');
    await created('rotateWebhookSecret', { courier_id: DEMO.couriers.HRB }, 'admin');
    await created('rotateWebhookSecret', { courier_id: DEMO.couriers.HRB }, 'admin');
    await service.freshTokenOf('iex');
    endings = [
      ['manageSessions', { as: 'iex', body: { action: 'end_all', keep_current: true } }],
      [
        'manageServiceTokens',
        { as: 'iex', body: { action: 'revoke', token_id: made.service_token.token_id } },
      ],
      ['manageUsers', { as: 'admin', body: { action: 'disable', user_id: two.user_id } }],
      ['manageTeam', { as: 'iex', body: { action: 'disable', user_id: one.user_id } }],
      ['manageCouriers', { as: 'admin', body: { action: 'deactivate', courier_id: DEMO.couriers.HRB } }],
      ['endPreviousWebhookSecret', { as: 'admin', body: { courier_id: DEMO.couriers.HRB } }],
      ['manageSandbox', { as: 'iex', body: { action: 'end' } }],
      ['manageFeeds', { as: 'iex', body: { action: 'delete', feed_id: feed.feed_id } }],
      ['manageTrackingLinks', { as: 'iex', body: { action: 'end', package_id: packageId } }],
    ];
  });

  afterAll(async () => {
    await service.stop();
  });

  test('works with a used-up allowance, and writes nothing if it is repeated', async () => {
    expect(endings.map(([id]) => id)).toEqual(Object.keys(UNMETERED.endings));
    await useUp(service);
    const seen: object[] = [];
    for (const [operation, call] of endings) {
      const before = await countAudited();
      const first = await service.call(operation, call);
      const once = await countAudited();
      const again = [];
      for (let n = 0; n < 3; n += 1) again.push((await service.call(operation, call)).status);
      const repeated = (await countAudited()) - once;
      seen.push([operation, first.status, once - before, again.join(), repeated]);
    }
    // What is no more is not found.
    const repeated = (id: OperationId) =>
      ['manageSandbox', 'manageFeeds', 'manageTrackingLinks'].includes(id) ? '404,404,404' : '200,200,200';
    expect(seen).toEqual(endings.map(([id]) => [id, 200, 1, repeated(id), 0]));
  });

  test('ending the sessions of another user who has none writes no audit entry', async () => {
    const body = { action: 'end_all', user_id: DEMO.users.warehouse };
    await service.call('manageSessions', { as: 'admin', body });
    const before = await countAudited();
    for (let n = 0; n < 5; n += 1)
      expect((await service.call('manageSessions', { as: 'admin', body })).body).toMatchObject({
        data: { ended: 0 },
      });
    expect(await countAudited()).toBe(before);
  });
});

describe('replacing a secret', () => {
  let service: Service;
  const courier = { courier_id: DEMO.couriers.IEX };
  const settings = (action: string): Call => ({ query: { id: DEMO.couriers.IEX }, body: { action } });
  const CALLS_OF_SECRETS: [OperationId, Call][] = [
    ['regenerateApiKey', { body: courier }],
    ['rotateWebhookSecret', { body: courier }],
    ['updateCourierSettings', settings('regenerate_key')],
    ['updateCourierSettings', settings('rotate_webhook_secret')],
  ];
  const password: Call = {
    body: { current_password: 'wrong', new_password: 'seven parcels on a wet quay' },
  };

  beforeAll(async () => {
    service = await startService({ env: SMALL });
    const made = await service.call('manageFeeds', {
      as: 'manager',
      body: { action: 'create', kind: 'easypost', name: 'F', ...courier },
    });
    const rotate = { action: 'rotate', feed_id: made.body['data'].feed.feed_id };
    CALLS_OF_SECRETS.push(['manageFeeds', { body: rotate }]);
  });

  afterAll(async () => {
    await service.stop();
  });

  test('works with a used-up allowance, up to a limit of its own for each user', async () => {
    await useUp(service);
    const statuses = [];
    for (const [operation, call] of CALLS_OF_SECRETS)
      statuses.push((await service.call(operation, { ...call, as: 'manager' })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    const own = { as: 'iex', isFresh: true };
    const wanted = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    expect((await service.call('changePassword', { ...own, body: wanted })).status).toBe(200);

    const { limit, policy } = QUOTAS.replaced_secrets;
    const { served, refused } = await callUntilRefused(2 * limit, () =>
      service.call('regenerateApiKey', { as: 'manager', body: courier }),
    );
    expect(served).toBeGreaterThan(limit - 20);
    expect(refused.body).toMatchObject({ code: 'quota_exceeded' });
    expect(refused.headers.get('ratelimit-policy')).toBe(`"${policy}";q=${limit};qu="secrets";w=86400`);
    for (const [operation, call] of [...CALLS_OF_SECRETS, ['changePassword', password] as const])
      expect((await service.call(operation, { ...call, as: 'manager' })).status).toBe(429);
    // Another user of the staff has its own, and sessions can be ended.
    expect((await service.call('regenerateApiKey', { as: 'admin', body: courier })).status).toBe(200);
    expect((await service.call('createCustomer', newCustomer('admin'))).status).toBe(429);
    const end = { action: 'end_all', keep_current: true };
    expect((await service.call('manageSessions', { as: 'manager', body: end })).status).toBe(200);
  });
});
