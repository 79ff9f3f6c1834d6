import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { developmentConfig } from '../support/staging/development.js';
import { makeContext } from '../../src/platform/context/request-context.js';
import { enterScope } from '../../src/platform/db/transactions/admission.js';
import { sql } from '../../src/platform/db/statements.js';
import { QUOTAS } from '../../generated/bounds.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { deleteExpired } from '../../src/jobs/retention.js';
import { CALLS } from '../security/authorization/calls.js';
import { rows as matrixRows } from '../security/authorization/matrix.js';
import { rounds } from '../support/harness/effort.js';
import {
  bundle,
  codesOf,
  describeOperation,
  operationIds,
  operationOf,
} from '../support/service/contract.js';
import { makeCouriers, type Belongings } from '../support/builders/couriers.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { MULTIPART_TYPE } from '../support/service/forms.js';
import {
  startService,
  untilAdmitted,
  type Call,
  type Reply,
  type Service,
} from '../support/service/service.js';
import type { UserCaller } from '../../src/platform/identity/callers.js';

const LIMIT_MS = 60_000;
let service: Service;
let iex: Belongings;

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
  iex = (await makeCouriers(service.owner)).IEX;
});

/** Restores the courier's API key hash after a test that changed it. */
const restoreApiKey = (hash = service.app.secrets.lookupHash(DEMO.apiKeys.IEX, 'api_key')) =>
  service.owner.query('update couriers set api_key_hash = $1 where id = $2', [hash, iex.courierId]);

afterAll(async () => {
  await service.stop();
});

const withKey = (call: Call, key: string): Call => ({
  ...call,
  headers: { ...call.headers, 'idempotency-key': key },
});

const isReplay = ({ headers }: Reply) => headers.get('idempotency-replayed') === 'true';
const codeOf = ({ body }: Reply): unknown => body['code'];

const acceptingKey = operationIds.filter((id) => operationOf(id).takesIdempotencyKey);

describe('the contract', () => {
  const posts = operationIds.filter((id) => operationOf(id).method === 'POST');
  // The type of an operation does not contain the contract's extensions.
  const reasonOf = (id: (typeof posts)[number]) =>
    (describeOperation(id) as { 'x-idempotency-exempt'?: string })['x-idempotency-exempt'];

  test('every POST accepts the header or gives a reason for its exemption, and no other method accepts it', () => {
    const reasons = posts.map((id) => [id, operationOf(id).takesIdempotencyKey !== Boolean(reasonOf(id))]);
    expect(reasons.filter(([, isEither]) => !isEither)).toEqual([]);
    expect(acceptingKey.filter((id) => !posts.includes(id))).toEqual([]);
    // A new exemption needs a decision; decision 0020 lists these.
    expect(new Set(posts.filter(reasonOf))).toEqual(
      new Set([
        ...['login', 'changePassword', 'manageTwoFactor', 'manageSessions', 'resetPassword'],
        ...['manageStationWorker', 'switchWorker', 'receiveFeedEvent', 'submitTrackingSearch'],
        ...['previewCourierInvoice', 'previewRates', 'verifyAuditLog', 'resolveScan', 'createDeviceSession'],
      ]),
    );
  });

  test.each(acceptingKey)(
    '%s declares both refusals, and Idempotency-Replayed on every response that may be stored',
    (id) => {
      const { responses } = describeOperation(id);
      expect(codesOf(id, 409)).toEqual(
        expect.arrayContaining(['idempotency_key_reused', 'idempotency_in_progress']),
      );
      const undeclared = Object.entries(responses)
        .filter(([status]) => /^(2\d\d|400|404|409|422)$/.test(status))
        .filter(([, { headers }]) => !headers?.['Idempotency-Replayed']);
      expect(undeclared).toEqual([]);
    },
  );

  test('the reference documents the header', () => {
    // Every contract has an info object.
    const { info } = bundle as unknown as { info: { description: string } };
    expect(info.description).toContain('## Repeating a request safely');
  });
});

describe('every operation that accepts a key', () => {
  const cases = matrixRows
    // Only sandboxes execute it: test/modules/sandboxes/lives/clock.test.ts.
    .filter(({ operation }) => operation !== 'manageSandboxLives')
    .filter(({ operation }) => operationOf(operation).takesIdempotencyKey)
    .map(({ title, operation }) => ({ title, operation }));

  test.each(cases)(
    '$title: a repeated request returns the same bytes and is executed once; a different body is rejected',
    async ({ title, operation }) => {
      const credential: Call =
        operationOf(operation).credential === 'key' ? { key: DEMO.apiKeys.IEX } : { as: 'admin' };
      const base = await CALLS[title](iex, iex, service);
      const key = `twice ${title}`.replaceAll(' ', '-');
      const call = withKey({ ...base, ...credential }, key);
      const before = await fingerprint(service.owner);
      const first = await service.call(operation, call);
      expect([first.status, isReplay(first)]).toEqual([expect.any(Number), false]);
      expect(first.status).toBeLessThan(300);
      const after = await fingerprint(service.owner);
      const second = await service.call(operation, call);
      const other = await service.call(operation, otherBody(call));
      expect(await fingerprint(service.owner)).toEqual(after);
      expect(second.status).toBe(first.status);
      if (JSON.stringify(before) === JSON.stringify(after)) {
        // A read changes nothing, so it is executed again and returns current data.
        expect([isReplay(second), other.status]).toEqual([false, first.status]);
        return;
      }
      expect([isReplay(second), second.bytes.equals(first.bytes)]).toEqual([true, true]);
      expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
      expect([other.status, codeOf(other)]).toEqual([409, 'idempotency_key_reused']);
      await expectInProgress(operation, call, title);
      await expectQuota(operation, call, title);
    },
  );

  test('one that only sandboxes execute is refused in the same way', async () => {
    const call: Call = { as: 'admin', body: { action: 'advance', hours: 1 } };
    await expectInProgress('manageSandboxLives', call, 'lives');
    await expectQuota('manageSandboxLives', call, 'lives');
  });

  test('the cases cover all these operations', () => {
    const covered = new Set([...cases.map(({ operation }) => operation), 'manageSandboxLives']);
    expect([...covered].sort()).toEqual([...acceptingKey].sort());
  });

  /** Sends the same request with a key that another transaction has locked. */
  async function expectInProgress(operation: (typeof acceptingKey)[number], call: Call, title: string) {
    const key = `held-${title}`.replaceAll(' ', '-');
    const holder = await service.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lockNameOf(key, call)]);
      const reply = await service.call(operation, withKey(call, key));
      expect([reply.status, codeOf(reply), reply.headers.get('retry-after')]).toEqual([
        409,
        'idempotency_in_progress',
        '1',
      ]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  }

  /** Sends the same request when the caller has stored as many bytes of responses as it may. */
  async function expectQuota(operation: (typeof acceptingKey)[number], call: Call, title: string) {
    const [kind, id] = call.key ? ['courier', iex.courierId] : ['user', DEMO.users.admin];
    const own = [DEMO.tenants.demo, kind, id];
    const { rows } = await service.owner.query<{ used: string }>(
      `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
       values ($1, $2, $3, $4, 'stored_bytes', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $5)
       on conflict (tenant_id, principal_kind, principal_id, kind, period_start)
       do update set used = principal_quotas.used + excluded.used returning used`,
      [...own, call.key ? iex.courierId : null, QUOTAS.stored_bytes.limit],
    );
    expect(rows).toHaveLength(1);
    try {
      const reply = await service.call(operation, withKey(call, `stored-${title}`.replaceAll(' ', '-')));
      expect([reply.status, codeOf(reply)]).toEqual([429, 'quota_exceeded']);
    } finally {
      await service.owner.query(
        `update principal_quotas set used = greatest(used - $4, 0)
         where tenant_id = $1 and principal_kind = $2 and principal_id = $3 and kind = 'stored_bytes'`,
        [...own, QUOTAS.stored_bytes.limit],
      );
    }
  }

  function lockNameOf(key: string, { key: apiKey }: Call): string {
    const owner = apiKey ? ['courier', iex.courierId] : ['user', DEMO.users.admin];
    const hash = service.app.secrets.lookupHash(key, 'idempotency_key');
    return `idempotency key ${DEMO.tenants.demo} ${owner[0]} ${hash} ${owner[1]}`;
  }

  /** Adds a field that the operation ignores. */
  function otherBody({ body, form, urlencoded, ...rest }: Call): Call {
    if (form) return { ...rest, form: { ...form, more: '1' } };
    if (urlencoded) return { ...rest, urlencoded: { ...urlencoded, more: '1' } };
    return { ...rest, body: { ...(body as object), more: '1' } };
  }
});

/** Creates a manifest. Without a key, a repeated request would create a second one. */
const createManifest = (key: string, remarks = 'once', call: Call = { as: 'admin' }) =>
  service.call('createManifest', withKey({ ...call, body: { remarks } }, key));

const countManifests = async (): Promise<number> => {
  const { rows } = await service.owner.query<{ n: number }>('select count(*)::int as n from manifests');
  return rows[0]?.n ?? 0;
};

describe('the scope of a key', () => {
  beforeAll(() => restoreApiKey());

  const createCustomer = (as: string, user_code: string, key: string) => {
    const body = { first_name: 'F', last_name: 'L', courier_id: iex.courierId, user_code };
    return service.call('createCustomer', withKey({ as, body }, key));
  };

  test('the same key of another user, courier or tenant is a different key', async () => {
    const replies = [
      await createCustomer('iex', 'SHARED-1', 'shared'),
      await createCustomer('hrb', 'SHARED-2', 'shared'),
      await createCustomer('admin', 'SHARED-3', 'shared'),
      await createCustomer('manager', 'SHARED-4', 'shared'),
      await createCustomer('two/two', 'SHARED-5', 'shared'),
    ];
    expect(replies.map((reply) => [reply.status, isReplay(reply)])).toEqual(Array(5).fill([200, false]));
    const announce = (key: string, UserCode: string, host?: string) =>
      service.call(
        'submitPrealert',
        withKey(
          { key, body: { UserCode, TrackingNumber: 'SHARED-KEY' }, ...(host ? { host } : {}) },
          'shared',
        ),
      );
    const { rows } = await service.owner.query<{ user_code: string }>(
      'select user_code from customers where courier_id = $1 and is_active limit 1',
      [DEMO.couriers.TWO],
    );
    const [first, ofOtherTenant] = [
      await announce(DEMO.apiKeys.IEX, 'IEX-1001'),
      await announce(DEMO.apiKeys.TWO, rows[0]?.user_code ?? '', DEMO.hosts.two),
    ];
    expect([first.status, ofOtherTenant.status, isReplay(ofOtherTenant)]).toEqual([201, 201, false]);
  });

  test('row-level security shows a courier only its own stored responses', async () => {
    const scopeOf = async (userId: string, tenantId: string): Promise<UserCaller> => {
      const { rows } = await service.owner.query('select * from users where id = $1', [userId]);
      const { role, courier_id: courierId, token_version: tokenVersion } = rows[0];
      return { kind: 'user', tenantId, userId, role, courierId, tokenVersion, expiresAt: 4_000_000_000 };
    };
    const seen = async (userId: string, tenantId = DEMO.tenants.demo) => {
      const caller = await scopeOf(userId, tenantId);
      expect(enterScope(caller).text).toContain('enter_with_token');
      const [rows] = await makeContext(service.db, caller, 'a-test').write([
        sql`select distinct tenant_id, courier_id from idempotency_keys`,
      ]);
      return rows;
    };
    const { rows: users } = await service.owner.query<{ id: string; username: string }>(
      'select id, username from users where username in ($1, $2)',
      ['iex', 'two'],
    );
    const idOf = (name: string) => users.find(({ username }) => username === name)?.id ?? '';
    const as = ['iex', 'hrb', 'two/two'];
    const replies = await Promise.all(as.map((each) => createCustomer(each, 'SCOPED', 'scoped')));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await seen(idOf('iex'))).toEqual([
      { tenant_id: DEMO.tenants.demo, courier_id: DEMO.couriers.IEX },
    ]);
    expect(await seen(idOf('two'), DEMO.tenants.two)).toEqual([
      { tenant_id: DEMO.tenants.two, courier_id: DEMO.couriers.TWO },
    ]);
  });

  test('a caller who lost access gets no stored response', async () => {
    const disable = (isActive: boolean) =>
      service.owner.query('update users set is_active = $1 where id = $2', [isActive, DEMO.users.manager]);
    const first = await createManifest('disabled', 'once', { as: 'manager' });
    expect(first.status).toBe(200);
    await disable(false);
    const refused = await createManifest('disabled', 'once', { as: 'manager' });
    expect([refused.status, codeOf(refused)]).toEqual([403, 'account_disabled']);
    const fresh = await createManifest('disabled-since', 'once', { as: 'manager' });
    expect(fresh.status).toBe(403);
    await disable(true);
    expect(isReplay(await createManifest('disabled', 'once', { as: 'manager' }))).toBe(true);

    const submit = () =>
      service.call(
        'submitPrealert',
        withKey(
          { key: DEMO.apiKeys.IEX, body: { UserCode: 'IEX-1001', TrackingNumber: 'REVOKED' } },
          'revoked',
        ),
      );
    expect((await submit()).status).toBe(201);
    await restoreApiKey('of another key');
    expect(codeOf(await submit())).toBe('key_invalid');
    await restoreApiKey();
    expect(isReplay(await submit())).toBe(true);
  });

  test('a key that a user has used for another courier is 409, and nothing is written', async () => {
    const id = newId();
    const username = `moved-${id.slice(-8)}`;
    await service.owner.query(
      `insert into users (tenant_id, id, username, full_name, role, courier_id, password_hash)
       select tenant_id, $1, $2, 'Moved', 'courier', courier_id, password_hash from users where username = 'iex'`,
      [id, username],
    );
    const key = randomUUID();
    const create = async () => {
      const body = { user_code: `MOVED-${username}`, first_name: 'F', last_name: 'L' };
      return service.call(
        'createCustomer',
        withKey({ token: await service.freshTokenOf(username), body }, key),
      );
    };
    expect((await create()).status).toBe(200);
    const body = { action: 'change_role', user_id: id, role: 'courier', courier_id: DEMO.couriers.HRB };
    expect((await service.call('manageUsers', { as: 'admin', body })).status).toBe(200);
    const repeated = await create();
    expect([repeated.status, codeOf(repeated)]).toEqual([409, 'idempotency_key_reused']);
    const { rows } = await service.owner.query('select courier_id from customers where user_code = $1', [
      `MOVED-${username}`,
    ]);
    expect(rows).toEqual([{ courier_id: DEMO.couriers.IEX }]);
  });

  test('a courier finds its stored responses after its API key was regenerated', async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: 'ROTATED' };
    const key = DEMO.apiKeys.IEX;
    const first = await service.call('submitPrealert', withKey({ query: { api_key: key }, body }, 'rotated'));
    expect(first.status).toBe(201);
    const regenerated = await service.call('updateCourierSettings', {
      as: 'iex',
      urlencoded: { action: 'regenerate_key' },
    });
    const again = await service.call(
      'submitPrealert',
      withKey({ key: regenerated.body['data'].api_key, body }, 'rotated'),
    );
    expect([isReplay(again), again.bytes.equals(first.bytes)]).toEqual([true, true]);
    await restoreApiKey();
  });
});

describe('comparison of requests', () => {
  const send = (body: string) => service.call('createManifest', withKey({ as: 'admin', body }, 'spelt'));

  test('the same JSON content in another notation is the same request', async () => {
    expect((await send('{"remarks":"same","awb_number":"1"}')).status).toBe(200);
    expect(isReplay(await send('{ "awb_number": "\\u0031",\n "remarks": "same" }'))).toBe(true);
    expect(codeOf(await send('{"remarks":"same","awb_number":1}'))).toBe('validation_failed');
    expect(codeOf(await send('{"remarks":"same"}'))).toBe('idempotency_key_reused');
  });

  test('a missing body equals an empty one', async () => {
    const none = withKey({ as: 'admin' }, 'bare');
    expect((await service.call('createManifest', none)).status).toBe(200);
    expect(isReplay(await service.call('createManifest', { ...none, body: {} }))).toBe(true);
  });

  test('a form with another boundary and file name is the same request, and with another file it is not', async () => {
    const upload = (file: string, name: string) =>
      withKey({ as: 'iex', form: { file: { file, name } } }, 'form');
    const head = 'user_code,first_name,last_name\n';
    const call = upload(`${head}FORM-1,F,L\n`, 'one.csv');
    const first = await service.call('uploadCustomers', call);
    expect(first.body['data'].created).toBe(1);
    const bytes = Buffer.from(
      `--other\r\nContent-Disposition: form-data; name="file"; filename="two.csv"\r\nContent-Type: text/csv\r\n\r\n` +
        `${head}FORM-1,F,L\n\r\n--other--\r\n`,
    );
    const headers = { 'content-type': MULTIPART_TYPE.replace(/=.*/, '=other'), ...call.headers };
    const again = await service.call('uploadCustomers', { as: 'iex', body: bytes, headers });
    expect([isReplay(again), again.bytes.equals(first.bytes)]).toEqual([true, true]);
    const other = await service.call('uploadCustomers', upload(`${head}FORM-1,F,M\n`, 'one.csv'));
    expect(codeOf(other)).toBe('idempotency_key_reused');
  });

  test('another operation, or another record in the query, is a different request', async () => {
    expect((await createManifest('elsewhere')).status).toBe(200);
    const elsewhere = await service.call(
      'manageManifest',
      withKey({ as: 'admin', body: { action: 'create_manifest' } }, 'elsewhere'),
    );
    expect(codeOf(elsewhere)).toBe('idempotency_key_reused');
    const rotate = (id: string) =>
      service.call(
        'updateCourierSettings',
        withKey({ as: 'admin', query: { id }, urlencoded: { action: 'rotate_webhook_secret' } }, 'of-whom'),
      );
    expect((await rotate(iex.courierId)).status).toBe(200);
    expect(codeOf(await rotate(DEMO.couriers.HRB))).toBe('idempotency_key_reused');
  });
});

describe('the Idempotency-Key header', () => {
  test.each([
    ['1 character', 'x', 200],
    ['255 characters', '~'.repeat(255), 200],
    ['256 characters', 'x'.repeat(256), 400],
    ['no characters', '', 400],
    ['a space', 'a b', 400],
    ['a non-ASCII character', 'é', 400],
  ])('a key with %s is validated against the declared pattern', async (_title, key, status) => {
    const reply = await createManifest(key);
    expect(reply.status).toBe(status);
    if (status === 400) expect(reply.body['errors'][0].field).toBe('Idempotency-Key');
  });

  test('a repeated header is rejected', async () => {
    // Node joins the values with a comma.
    const reply = await createManifest('a, a');
    expect([reply.status, reply.body['errors'][0]]).toEqual([
      400,
      {
        field: 'Idempotency-Key',
        code: 'pattern',
        message: 'Idempotency-Key must contain only visible ASCII characters.',
      },
    ]);
  });

  test('has no effect on login, where each request is verified', async () => {
    const call = withKey({ body: { action: 'login', username: 'admin', password: DEMO.password } }, 'login');
    const [first, second] = [await service.call('login', call), await service.call('login', call)];
    expect([first.status, second.status, isReplay(second)]).toEqual([200, 200, false]);
    const wrong = await service.call('login', {
      ...call,
      body: { action: 'login', username: 'admin', password: 'wrong' },
    });
    expect(wrong.status).toBe(401);
  });
});

describe('refusals', () => {
  const announce = (key: string, UserCode: string, TrackingNumber: string) =>
    service.call(
      'submitPrealert',
      withKey({ key: DEMO.apiKeys.IEX, body: { UserCode, TrackingNumber } }, key),
    );
  const createCustomer = (key: string, fields: object) => {
    const body = { first_name: 'F', last_name: 'L', courier_id: iex.courierId, ...fields };
    return service.call('createCustomer', withKey({ as: 'admin', body }, key));
  };

  test('after the cause is corrected, the same request with the same key is executed', async () => {
    const first = await announce('unknown-code', 'LATE-1', 'LATE-NUMBER');
    expect([first.status, codeOf(first)]).toEqual([400, 'unknown_user_code']);
    expect((await createCustomer('late-1', { user_code: 'LATE-1' })).status).toBe(200);
    const second = await announce('unknown-code', 'LATE-1', 'LATE-NUMBER');
    expect([second.status, isReplay(second)]).toEqual([201, false]);
    const third = await announce('unknown-code', 'LATE-1', 'LATE-NUMBER');
    expect([third.status, isReplay(third), third.bytes.equals(second.bytes)]).toEqual([201, true, true]);
  });

  test('a duplicate is executed with the same key after the existing record was deleted', async () => {
    const existing = await announce('its-first', 'IEX-1001', 'DELETED-NUMBER');
    const refused = await announce('its-second', 'IEX-1001', 'DELETED-NUMBER');
    expect([existing.status, refused.status, codeOf(refused)]).toEqual([
      201,
      409,
      'duplicate_tracking_number',
    ]);
    const body = { prealert_id: existing.body['data'].prealert_id };
    expect((await service.call('deletePrealert', { as: 'iex', body })).status).toBe(200);
    const again = await announce('its-second', 'IEX-1001', 'DELETED-NUMBER');
    expect([again.status, isReplay(again)]).toEqual([201, false]);
  });

  test('a refusal that was rolled back, or that came before any transaction, leaves the key for a corrected request', async () => {
    const carrier_id = randomUUID();
    const receive = (fields: object) =>
      service.call(
        'receivePackage',
        withKey({ as: 'admin', body: { tracking_number: 'REFUSED-1', weight: 1, ...fields } }, 'refused'),
      );
    expect((await receive({ carrier_id })).status).toBe(404);
    expect((await receive({})).status).toBe(201);
    const taken = await createCustomer('taken', { user_code: iex.userCode });
    expect([taken.status, codeOf(taken)]).toEqual([409, 'duplicate_user_code']);
    expect((await createCustomer('taken', { user_code: 'NOT-TAKEN' })).status).toBe(200);
    const without = await createCustomer('without', { user_code: 'MENDED', courier_id: undefined });
    expect(without.body['errors'][0].field).toBe('courier_id');
    expect((await createCustomer('without', { user_code: 'MENDED' })).status).toBe(200);
    const wrong = await service.call(
      'createManifest',
      withKey({ as: 'admin', body: { remarks: 7 } }, 'mended'),
    );
    expect(wrong.status).toBe(400);
    expect((await createManifest('mended')).status).toBe(200);
  });

  test('concurrent requests with one key never get a refusal that one of them caused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const replies = await Promise.all(
        Array.from({ length: 10 }, () =>
          untilAdmitted(() => announce(`cause-${round}`, 'IEX-1001', `CAUSE-${round}`)),
        ),
      );
      const codes = new Set(replies.filter(({ status }) => status !== 201).map(codeOf));
      expect([...codes].filter((code) => code !== 'idempotency_in_progress')).toEqual([]);
      expect(replies.filter((reply) => reply.status === 201 && !isReplay(reply))).toHaveLength(1);
    }
  });

  test('a refusal of the caller is not stored: with the permission, the same request is executed', async () => {
    const setRole = (role: string) =>
      service.owner.query('update users set role = $1 where id = $2', [role, DEMO.users.warehouse]);
    const body = { user_code: 'RIGHT', first_name: 'F', last_name: 'L', courier_id: iex.courierId };
    const create = (token: string) => service.call('createCustomer', withKey({ token, body }, 'right'));
    expect((await create(await service.tokenOf('warehouse'))).status).toBe(403);
    await setRole('manager');
    const { rows } = await service.owner.query<{ token_version: number; now_s: number }>(
      'select token_version, extract(epoch from now())::int as now_s from users where id = $1',
      [DEMO.users.warehouse],
    );
    const manager = { role: 'manager' as const, courierId: null, tokenVersion: rows[0]?.token_version ?? 1 };
    const token = service.app.tokens.issue(
      { tenantId: DEMO.tenants.demo, userId: DEMO.users.warehouse, ...manager },
      rows[0]?.now_s ?? 0,
    );
    expect((await create(token)).status).toBe(200);
    await setRole('warehouse');
  });
});

describe('retention of stored responses', () => {
  const ageBy = (interval: string, key: string) =>
    service.owner.query(
      'update idempotency_keys set created_at = created_at - $1::interval where key_hash = $2',
      [interval, service.app.secrets.lookupHash(key, 'idempotency_key')],
    );
  const isThere = async (key: string) => {
    const { rows } = await service.owner.query('select 1 from idempotency_keys where key_hash = $1', [
      service.app.secrets.lookupHash(key, 'idempotency_key'),
    ]);
    return rows.length === 1;
  };

  test('a response is returned again for 24 hours and not longer, whether it was deleted or not', async () => {
    const before = await countManifests();
    await createManifest('day');
    await ageBy('23 hours 59 minutes', 'day');
    expect(isReplay(await createManifest('day'))).toBe(true);
    await ageBy('1 minute', 'day');
    // The key is free again, even for a different request.
    const anew = await createManifest('day', 'another');
    expect([anew.status, isReplay(anew)]).toEqual([200, false]);
    expect(isReplay(await createManifest('day', 'another'))).toBe(true);
    expect(await countManifests()).toBe(before + 2);
  });

  test('responses older than 24 hours are deleted, and no younger ones', async () => {
    await createManifest('old');
    await createManifest('young');
    await ageBy('24 hours 1 second', 'old');
    await ageBy('23 hours 59 minutes', 'young');
    await deleteExpired({ db: service.db, stopping: new AbortController().signal });
    expect([await isThere('old'), await isThere('young')]).toEqual([false, true]);
  });

  test('the database contains neither the key nor the response in plain text, and a response can be decrypted only in its row', async () => {
    const call = withKey({ as: 'hrb', urlencoded: { action: 'regenerate_key' } }, 'a-key-that-is-looked-for');
    const first = await service.call('updateCourierSettings', call);
    const apiKey: string = first.body['data'].api_key;
    expect((await service.call('updateCourierSettings', call)).body['data'].api_key).toBe(apiKey);
    const { rows } = await service.owner.query('select * from idempotency_keys k');
    const text = JSON.stringify(rows);
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain('a-key-that-is-looked-for');
    expect(text).not.toContain(Buffer.from(apiKey).toString('base64').slice(0, 20));

    const stored = rows.find(({ courier_id }) => courier_id === DEMO.couriers.HRB);
    const secrets = openSecrets(developmentConfig({}).secrets);
    const context = { tenantId: stored.tenant_id, rowId: stored.id, field: 'idempotent_answer' as const };
    expect(secrets.decrypt(stored.answer_cipher, context)).toContain('statusCode');
    expect(() => secrets.decrypt(stored.answer_cipher, { ...context, rowId: randomUUID() })).toThrow(
      'ciphertext was altered',
    );
  });
});

describe('concurrent requests', () => {
  const CALLERS = rounds(50, 200);
  const PAIRS = rounds(10, 50);

  test(
    `${CALLERS} callers with one key create one manifest, and each gets the first response or 409 idempotency_in_progress`,
    async () => {
      for (let round = 0; round < 2; round += 1) {
        const before = await countManifests();
        const replies = await Promise.all(
          Array.from({ length: CALLERS }, () => untilAdmitted(() => createManifest(`race-${round}`))),
        );
        expect(await countManifests()).toBe(before + 1);
        const served = replies.filter(({ status }) => status === 200);
        const inProgress = replies.filter((reply) => codeOf(reply) === 'idempotency_in_progress');
        expect(served.length + inProgress.length).toBe(CALLERS);
        expect(served.filter((reply) => !isReplay(reply))).toHaveLength(1);
        expect(new Set(served.map(({ bytes }) => bytes.toString())).size).toBe(1);
      }
    },
    LIMIT_MS,
  );

  test(
    `of ${PAIRS} pairs with one key and two bodies, one request is executed and the other rejected`,
    async () => {
      const before = await countManifests();
      const pairs = await Promise.all(
        Array.from({ length: PAIRS }, (_, index) =>
          Promise.all(
            ['left', 'right'].map((side) => untilAdmitted(() => createManifest(`pair-${index}`, side))),
          ),
        ),
      );
      const unexpected = pairs.filter(
        (pair) =>
          pair.filter(({ status }) => status === 200).length !== 1 ||
          !pair.some((reply) => /^idempotency_/.test(String(codeOf(reply)))),
      );
      expect(unexpected).toEqual([]);
      expect(await countManifests()).toBe(before + PAIRS);
    },
    LIMIT_MS,
  );

  test('a concurrent repeated request gets 409 at once instead of waiting, and later the stored response', async () => {
    const holder = await service.owner.connect();
    try {
      await holder.query('begin; lock table manifests in exclusive mode');
      const first = createManifest('at-work');
      const { rows } = await waitingFor('manifests');
      expect(rows.length).toBeGreaterThan(0);
      const second = await createManifest('at-work');
      expect([second.status, codeOf(second)]).toEqual([409, 'idempotency_in_progress']);
      await holder.query('rollback');
      expect((await first).status).toBe(200);
      const third = await createManifest('at-work');
      expect([isReplay(third), third.bytes.equals((await first).bytes)]).toEqual([true, true]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  async function waitingFor(table: string): Promise<{ rows: unknown[] }> {
    for (;;) {
      const found = await service.owner.query(
        'select 1 from pg_locks l where not l.granted and l.relation = $1::regclass and l.database = (select oid from pg_database where datname = current_database())',
        [table],
      );
      if (found.rows.length > 0) return found;
    }
  }
});
