import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { operations, type OperationId } from '../../../generated/operations.js';
import { callBelow, makeSandbox, type OpenedSandbox } from '../../support/fixture/sandboxes.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { SCOPES_OF_COURIERS, SCOPES_OF_STAFF, serviceTokenOf } from '../../support/service/principals.js';
import { startService, type Call, type Service } from '../../support/service/service.js';
import { withServiceScope } from '../../support/builders/row-security.js';

let service: Service;
let iex: OpenedSandbox;
let hrb: OpenedSandbox;

beforeAll(async () => {
  // Failed credentials are counted by address.
  service = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
  iex = await makeSandbox(service);
  hrb = await makeSandbox(service, 'hrb');
}, 60_000);
afterAll(() => service.stop());

const guarded = Object.values(operations).filter(({ credential }) => credential !== 'none');

/** The credential of an operation: an API key, or a token. */
const credentialOf = (id: OperationId, token: string, key: string): Call =>
  operations[id].credential === 'key' ? { key } : { token };

/** How a request is refused whose credential the tenant does not know, or that no service token may make. */
const REFUSALS = [
  '403 key_invalid',
  '401 token_invalid',
  '401 service_token_invalid',
  '403 token_not_accepted',
];

test('there are operations to try', () => expect(guarded.length).toBeGreaterThan(100));

describe.each(guarded.map(({ id }, index) => [id, index] as const))('%s', (id, index) => {
  test('refuses the credentials of a sandbox outside of it, and those of everybody else inside', async () => {
    const outcomes: string[] = [];
    const send = async (name: string, basePath: string, call: Call) => {
      const headers = { 'x-forwarded-for': `198.51.100.${index}` };
      const { status, body } = await callBelow(service, basePath, id, { ...call, headers });
      outcomes.push(`${name}: ${status} ${body['code']}`);
    };
    const ofSandbox = credentialOf(id, iex.token, iex.key);
    await send('sandbox, live', '', ofSandbox);
    await send('sandbox, other tenant', '', { ...ofSandbox, host: DEMO.hosts.two });
    await send('sandbox, other sandbox', hrb.basePath, ofSandbox);
    await send('token of the staff', iex.basePath, { token: await tokenOf('admin', SCOPES_OF_STAFF) });
    await send('token of the courier', iex.basePath, { token: await tokenOf('iex', SCOPES_OF_COURIERS) });
    const ofCourier = credentialOf(id, await service.tokenOf('iex'), DEMO.apiKeys.IEX);
    await send('user or key of the courier', iex.basePath, ofCourier);
    if (operations[id].credential === 'token')
      await send('user of the staff', iex.basePath, { token: await service.tokenOf('admin') });
    const accepted = outcomes.filter(
      (outcome) => !REFUSALS.some((refusal) => outcome.endsWith(`: ${refusal}`)),
    );
    expect(accepted).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(5);
  });
});

const live = new Map<string, string>();
async function tokenOf(as: string, scopes: string[]): Promise<string> {
  const token = live.get(as) ?? (await serviceTokenOf(service, as, scopes));
  live.set(as, token);
  return token;
}

test('live lists, totals and the dashboard of the staff have nothing of a sandbox', async () => {
  const reads = async () => {
    const bodies: unknown[] = [];
    for (const id of [
      'listCouriers',
      'listPrealerts',
      'listCustomers',
      'getAttention',
      'listManifests',
    ] as const) {
      const { body } = await service.call(id, { as: 'admin' });
      delete body['timestamp'];
      bodies.push(body);
    }
    return bodies;
  };
  const before = await reads();
  const number = '1Z999AA10123456784';
  const body = { UserCode: 'IEX-1', TrackingNumber: number };
  expect((await iex.send('submitPrealert', { key: iex.key, body })).status).toBe(201);
  expect(await reads()).toEqual(before);
  expect(JSON.stringify(before)).not.toContain(iex.sandboxId);
});

describe('the path of a sandbox', () => {
  test('is 404 unknown_sandbox with a key that no sandbox has, although a tenant has every other host', async () => {
    const path = `/sandbox/${'z'.repeat(20)}/api/ManagePrealerts.php`;
    expect(await service.request('GET', path, { token: iex.token })).toMatchObject({
      status: 404,
      body: { code: 'unknown_sandbox' },
    });
    await service.owner
      .query("insert into tenant_hosts (tenant_id, host) values ($1, '*')", [DEMO.tenants.two])
      .catch(() => undefined);
    const other = `/sandbox/${'y'.repeat(20)}/api/ManagePrealerts.php`;
    expect(await service.request('GET', other, { token: iex.token })).toMatchObject({
      status: 404,
      body: { code: 'unknown_sandbox' },
    });
  });

  test('has only operations below it, and no host names it', async () => {
    for (const path of ['/health', '/console', '/docs', '/openapi.json', ''])
      expect([path, (await service.request('GET', iex.basePath + path)).status]).toEqual([path, 404]);
    const host = iex.basePath.slice(1);
    const reply = await service.request('GET', '/api/ManagePrealerts.php', { token: iex.token, host });
    expect(reply.status).not.toBe(200);
  });
});

describe('the functions of sandboxes', () => {
  const { demo, two } = DEMO.tenants;
  const { IEX, HRB } = DEMO.couriers;
  const id = 'ffffffff-ffff-7fff-bfff-fffffffffffe';
  const open = `select open_sandbox('${id}', 'k', '${IEX}')`;

  test.each([
    ['no scope', { tenantId: '', courierId: '' }],
    ['another courier', { tenantId: demo, courierId: HRB }],
    ['no courier', { tenantId: demo, courierId: '' }],
  ])('refuse to open one with the scope of %s', async (_name, scope) => {
    await expect(withServiceScope(service.owner, scope, (client) => client.query(open))).rejects.toThrow(
      'a sandbox needs the scope of its courier',
    );
  });

  test('refuse a sandbox of a sandbox', async () => {
    const scope = { tenantId: iex.sandboxId, courierId: 'all' };
    await expect(withServiceScope(service.owner, scope, (client) => client.query(open))).rejects.toThrow(
      'a sandbox needs the scope of its courier',
    );
  });

  test.each([
    ['no scope', { tenantId: '', courierId: '' }, 0],
    ['another tenant', { tenantId: two, courierId: 'all' }, 0],
    ['another courier', { tenantId: demo, courierId: HRB }, 0],
    ['its own courier', { tenantId: demo, courierId: IEX }, 1],
    ['the staff', { tenantId: demo, courierId: 'all' }, 1],
  ])(
    'remove the path of a sandbox with the scope of %s only if it is theirs',
    async (_name, scope, removed) => {
      const hosts = 'select count(*)::int as n from tenant_hosts where tenant_id = $1';
      const left = await withServiceScope(service.owner, scope, async (client) => {
        await client.query('select close_sandbox($1)', [iex.sandboxId]);
        await client.query('reset role');
        return (await client.query<{ n: number }>(hosts, [iex.sandboxId])).rows[0]?.n;
      });
      expect(left).toBe(1 - removed);
    },
  );

  test('never remove a host of a live tenant', async () => {
    const left = await withServiceScope(
      service.owner,
      { tenantId: demo, courierId: 'all' },
      async (client) => {
        await client.query('select close_sandbox($1)', [demo]);
        await client.query('reset role');
        const hosts = 'select count(*)::int as n from tenant_hosts where tenant_id = $1';
        return (await client.query<{ n: number }>(hosts, [demo])).rows[0]?.n;
      },
    );
    expect(left).toBeGreaterThan(0);
  });
});

test('a host that nobody has still belongs to the only live tenant', async () => {
  const client = await service.owner.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    await client.query('delete from tenants where id = $1', [DEMO.tenants.two]);
    await client.query("delete from tenant_hosts where host = '*'");
    const { rows } = await client.query<{ id: string }>("select tenant_of_host('nobody.example') as id");
    expect(rows).toEqual([{ id: DEMO.tenants.demo }]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('what waits in a sandbox is not in the gauges of the operator', async () => {
  const client = await service.owner.connect();
  const backlog = async () =>
    (await client.query<{ queued_mails: string }>('select queued_mails from outbound_backlog()')).rows[0]
      ?.queued_mails;
  try {
    await client.query('begin');
    const before = Number(await backlog());
    const add = `insert into account_mails (tenant_id, id, user_id, kind, recipient)
      select tenant_id, gen_random_uuid(), id, 'password_changed', 'a@b.example' from users where tenant_id = $1 limit 1`;
    await client.query(add, [iex.sandboxId]);
    expect(Number(await backlog())).toBe(before);
    await client.query(add, [DEMO.tenants.demo]);
    expect(Number(await backlog())).toBe(before + 1);
  } finally {
    await client.query('rollback');
    client.release();
  }
});
