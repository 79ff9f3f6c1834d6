import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeResponseValidator } from '../../src/platform/contract/response-validator.js';
import { DEMO } from '../../src/development/demo/seed.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import {
  bodyShapes,
  bundle,
  codesOf,
  METHODS,
  methodsByPath,
  operationIds,
  operationOf,
  filledPath,
} from '../support/service/contract.js';
import { BOUNDARY, MULTIPART_TYPE } from '../support/service/forms.js';
import { exampleMessages, failureFaults } from '../support/failures/failure-check.js';
import { observe } from '../support/service/observations.js';
import { startService, type Call, type Service } from '../support/service/service.js';
import { sendRaw, talk, type RawReply } from '../support/service/wire.js';

// What every operation refuses alike. What is an operation's own (404, 409, 422) is in its own tests.

const { validate } = makeResponseValidator(bundle);

let service: Service;

beforeAll(async () => {
  service = await startService({ timeouts: { headersMs: 300, requestMs: 300 } });
});

afterAll(async () => {
  await service.stop();
});

const declaring = (status: number) =>
  operationIds.filter((id) => (operationOf(id).statuses as readonly number[]).includes(status));

const declaringCode = (status: number, code: string) =>
  operationIds.filter((id) => codesOf(id, status).includes(code));

/** Credentials that the operation accepts. */
function admitted(id: OperationId): Call {
  const { credential } = operationOf(id);
  if (credential === 'none') return {};
  return credential === 'key' ? { key: DEMO.apiKeys.IEX } : { as: 'admin' };
}

/** A request that gets past authentication and is refused for its content. */
function refusedForContent(id: OperationId): Call {
  const { method } = operationOf(id);
  // NUL is text that no operation stores or looks for
  const content = method === 'GET' ? { query: { page: '0', id: 'none', '\0': '' } } : brokenBody(id);
  return { ...admitted(id), ...content };
}

const takesJson = (id: OperationId) =>
  (operationOf(id).mediaTypes as readonly string[]).includes('application/json');

/** A body of a kind that the operation takes, cut off. */
const brokenBody = (id: OperationId): Call =>
  takesJson(id) ? { body: '{' } : { body: `--${BOUNDARY}\r\n`, headers: { 'content-type': MULTIPART_TYPE } };

const hasBody = (id: OperationId) => operationOf(id).mediaTypes.length > 0;

const firstLine = (id: OperationId) => `${operationOf(id).method} ${filledPath(id)} HTTP/1.1\r\nHost: x\r\n`;

/** A reply that was given before there was an operation, judged and noted as that of one. */
function expectDeclared(id: OperationId, reply: RawReply | undefined, status: number): void {
  expect(reply?.status).toBe(status);
  const { headers = {}, text = '' } = reply ?? {};
  const header = (name: string) => headers[name.toLowerCase()]?.toString();
  expect(validate(id, { status, header, headerNames: Object.keys(headers), text })).toEqual([]);
  const mediaType = header('content-type')?.split(';')[0] ?? '';
  expect(failureFaults({ operationId: id, status, mediaType, text })).toEqual([]);
  observe({ operationId: id, status, mediaType, text });
}

describe('every operation declares and gives', () => {
  test.each(declaring(405))('405 %s, for a method that its path lacks', async (id) => {
    const { path } = operationOf(id);
    const method = METHODS.find((each) => each !== 'HEAD' && !methodsByPath.get(path)?.includes(each));
    expectDeclared(id, await sendRaw(service.url, { method, path: filledPath(id) }), 405);
  });

  test('408, for a request that does not arrive', async () => {
    const ids = declaring(408);
    const late = await Promise.all(
      ids.map((id) => {
        const type = takesJson(id) ? 'application/json' : MULTIPART_TYPE;
        const head = `${firstLine(id)}Content-Type: ${type}\r\n`;
        return talk(service.url, hasBody(id) ? `${head}Content-Length: 9\r\n\r\n{` : head);
      }),
    );
    for (const [index, id] of ids.entries()) {
      // an operation with a credential refuses the missing one first; the late body is refused after it
      expectDeclared(id, late[index]?.at(-1), 408);
    }
  });

  test.each(declaring(413))(
    '413 %s, for a body beyond the size that it takes, or a file beyond 10 MiB',
    async (id) => {
      const large: Call = takesJson(id)
        ? { body: `"${'x'.repeat(1024 * 1024)}"` }
        : { form: { file: { file: Buffer.alloc(10 * 1024 * 1024 + 1) } } };
      const reply = await service.call(id, { ...admitted(id), ...large });
      expect(reply).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    },
  );

  test.each(declaring(415))('415 %s, for a body of a type that it does not take', async (id) => {
    const headers = { 'content-type': 'text/plain' };
    const reply = await service.call(id, { ...admitted(id), headers, body: '{}' });
    expect(reply).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test.each(declaring(431))('431 %s, for headers beyond 16 KiB', async (id) => {
    const replies = await talk(service.url, `${firstLine(id)}X-Thing: ${'x'.repeat(20_000)}\r\n\r\n`);
    expectDeclared(id, replies[0], 431);
  });

  test.each(declaring(401).filter((id) => operationOf(id).credential !== 'none'))(
    '401 %s, without a credential and with the other kind',
    async (id) => {
      const isKey = operationOf(id).credential === 'key';
      const other = isKey ? { as: 'admin' } : { key: DEMO.apiKeys.IEX };
      for (const call of [{}, other]) {
        expect(await service.call(id, call)).toMatchObject({
          status: 401,
          body: { status: isKey ? 'fail' : 'error', code: isKey ? 'key_missing' : 'token_missing' },
        });
      }
    },
  );

  // A password reset takes no credential: its 403 is a request without HTTPS.
  test.each(declaring(403).filter((id) => id !== 'resetPassword'))(
    '403 %s, for a credential that is known but not good enough',
    async (id) => {
      expect(await service.call(id, notGoodEnough(id))).toMatchObject({
        status: 403,
        body: { status: 'fail' },
      });
    },
  );

  test.each(declaring(400))('400 %s, for content that is not what it takes', async (id) => {
    expect(await service.call(id, refusedForContent(id))).toMatchObject({
      status: 400,
      body: { status: 'fail' },
    });
  });

  test.each(declaringCode(400, 'body_required'))('400 %s, for no body at all', async (id) => {
    expect(await service.call(id, admitted(id))).toMatchObject({
      status: 400,
      body: { code: 'body_required' },
    });
  });

  test.each(declaringCode(400, 'invalid_encoding').filter((id) => takesJson(id) || !hasBody(id)))(
    '400 %s, for text that is not UTF-8, with the message of its example',
    async (id) => {
      const { method } = operationOf(id);
      const reply = takesJson(id)
        ? await service.call(id, { ...admitted(id), body: Buffer.from('{"\xff":1}', 'latin1') })
        : await service.request(method, `${filledPath(id)}?x=%ff`, admitted(id));
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_encoding' } });
      expect(exampleMessages(id, 400, 'invalid_encoding')).toEqual([reply.body['message']]);
    },
  );

  test.each(declaringCode(400, 'malformed_request'))(
    '400 %s, for a header without a colon, and for two Host headers',
    async (id) => {
      for (const header of ['broken', 'Host: y']) {
        const replies = await talk(service.url, `${firstLine(id)}${header}\r\nConnection: close\r\n\r\n`);
        expectDeclared(id, replies[0], 400);
      }
    },
  );

  function notGoodEnough(id: OperationId): Call {
    const { credential } = operationOf(id);
    if (credential === 'token') return { as: 'disabled' };
    if (credential === 'key')
      return { key: 'f'.repeat(64), body: { UserCode: 'IEX-1001', TrackingNumber: 'X1' } };
    return { body: { action: 'login', username: 'disabled', password: DEMO.password } };
  }
});

describe('429, beyond the operator’s own limit', () => {
  let limited: Service;

  beforeAll(async () => {
    limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1' } });
  });

  afterAll(async () => {
    await limited.stop();
  });

  test.each(declaring(429))('%s', async (id) => {
    await limited.call(id, refusedForContent(id));
    const reply = await limited.call(id, refusedForContent(id));
    expect(reply).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(reply.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  test('one caller’s limit is not another’s, and service operations have none', async () => {
    expect(await limited.call('listPrealerts', { as: 'manager' })).toMatchObject({ status: 200 });
    expect(await limited.call('listPrealerts', { as: 'manager' })).toMatchObject({ status: 429 });
    expect(await limited.call('listPrealerts', { as: 'warehouse' })).toMatchObject({ status: 200 });
    expect(await limited.call('listPrealerts', { as: 'two/admin' })).toMatchObject({ status: 200 });
    for (let calls = 0; calls < 5; calls += 1) {
      expect(await limited.call('getHealth')).toMatchObject({ status: 200 });
    }
  });
});

test('429 with too_many_attempts, for a wrong key after three hundred', async () => {
  const strict = await startService();
  const guess = (id: OperationId) =>
    strict.call(id, { key: 'f'.repeat(64), body: { UserCode: 'IEX-1001', TrackingNumber: 'X1' } });
  try {
    const ids = declaringCode(429, 'too_many_attempts').filter((id) => operationOf(id).credential === 'key');
    expect(ids).not.toEqual([]);
    await Promise.all(Array.from({ length: 300 }, (_, n) => guess(ids[n % ids.length] ?? 'submitPrealert')));
    for (const id of ids) {
      const reply = await guess(id);
      expect([id, reply.status, reply.body['code']]).toEqual([id, 429, 'too_many_attempts']);
    }
  } finally {
    await strict.stop();
  }
});

describe('403 with https_required, where only HTTPS is served', () => {
  let staging: Service;

  beforeAll(async () => {
    staging = await startService({
      env: {
        APP_ENV: 'staging',
        TOKEN_KEYS: `k1:${'t'.repeat(40)}`,
        ENCRYPTION_KEYS: `1:${'ab'.repeat(32)}`,
        LOOKUP_KEY: 'cd'.repeat(32),
        TRUST_PROXY: '127.0.0.1',
      },
    });
  });

  afterAll(async () => {
    await staging.stop();
  });

  test.each(declaringCode(403, 'https_required'))('%s', async (id) => {
    const { method, path } = operationOf(id);
    const reply = await sendRaw(staging.url, { method, path });
    expectDeclared(id, reply, 403);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'https_required' });
  });
});

describe('the order of refusal', () => {
  const large = 'x'.repeat(1024 * 1024 + 1);

  // each row is refused for everything that the rows below it are refused for as well
  test.each<[string, number, string, Call]>([
    ['the path', 404, '/nowhere', { token: 'not.a.token', body: large }],
    ['the method', 405, '/api/ReceivePackage.php', { token: 'not.a.token', body: large }],
    ['the size', 413, '/api/ManagePrealerts.php', { token: 'not.a.token', body: large }],
    [
      'the media type',
      415,
      '/api/ManagePrealerts.php',
      { token: 'not.a.token', headers: { 'content-type': 'text/csv' }, body: '{' },
    ],
    ['the token', 401, '/api/ManagePrealerts.php', { token: 'not.a.token', body: '{' }],
    ['the account', 403, '/api/ManagePrealerts.php', { as: 'disabled', body: '{' }],
    ['the content', 400, '/api/ManagePrealerts.php', { as: 'admin', body: '{' }],
  ])('%s', async (_name, status, path, call) => {
    const method = status === 405 ? 'DELETE' : 'PUT';
    expect((await service.request(method, path, call)).status).toBe(status);
  });

  test('the permission comes before the content, the content before the record', async () => {
    const calls: [OperationId, Call, number][] = [
      ['receivePackage', { as: 'iex', body: '{' }, 403],
      ['manageManifest', { as: 'iex', body: { action: 'nonsense' } }, 403],
      ['generateCourierInvoice', { as: 'warehouse', body: {} }, 403],
      ['replacePrealert', { as: 'iex', body: { prealert_id: DEMO.prealerts.pending.HRB[0] } }, 400],
      ['getManifest', { as: 'iex', query: { id: 'x' } }, 400],
    ];
    for (const [id, call, status] of calls)
      expect([id, (await service.call(id, call)).status]).toEqual([id, status]);
  });

  test('a token that has become stale is 401 before bad content, and a disabled courier 403', async () => {
    const token = await service.tokenOf('hrb');
    const send = (body: unknown) => service.call('createPrealert', { token, body });
    expect(await send('{')).toMatchObject({ status: 400 });
    await service.owner.query('update couriers set is_active = false where id = $1', [DEMO.couriers.HRB]);
    expect(await send('{')).toMatchObject({ status: 403, body: { code: 'account_disabled' } });
    await service.owner.query('update couriers set is_active = true where id = $1', [DEMO.couriers.HRB]);
    await service.owner.query('update users set token_version = token_version + 1 where id = $1', [
      DEMO.users.hrb,
    ]);
    expect(await send('{')).toMatchObject({ status: 401, body: { code: 'token_invalid' } });
    expect(await send({})).toMatchObject({ status: 401 });
  });
});

test('an administrator that is disabled is told so by what administrators alone may do', async () => {
  const token = await service.tokenOf('admin');
  const calls: [OperationId, Call][] = [
    ['listUsers', {}],
    ['manageUsers', { body: { action: 'enable', user_id: DEMO.users.hrb } }],
    ['listAuditLog', {}],
    ['verifyAuditLog', { body: { action: 'verify' } }],
  ];
  const switchAdmin = (isActive: boolean) =>
    service.owner.query('update users set is_active = $2 where id = $1', [DEMO.users.admin, isActive]);
  await switchAdmin(false);
  try {
    for (const [id, call] of calls)
      expect([id, await service.call(id, { ...call, token })]).toMatchObject([
        id,
        { status: 403, body: { code: 'account_disabled' } },
      ]);
  } finally {
    await switchAdmin(true);
  }
});

test('both paths of the public submission write one register: a number announced on either is 409 on both', async () => {
  const paths = ['submitPrealert', 'submitPrealertWithoutSuffix'] as const;
  for (const [index, first] of paths.entries()) {
    const call = { key: DEMO.apiKeys.IEX, body: { UserCode: 'IEX-1001', TrackingNumber: `EITHER-${index}` } };
    expect(await service.call(first, call)).toMatchObject({ status: 201 });
    for (const again of paths) {
      expect(await service.call(again, call)).toMatchObject({
        status: 409,
        body: { code: 'duplicate_tracking_number' },
      });
    }
  }
});

test('every JSON body of the contract has an example', () => {
  expect(new Set(bodyShapes().map(({ id }) => id))).toEqual(
    new Set(operationIds.filter((id) => hasBody(id) && takesJson(id))),
  );
});
