import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { whileInactive } from '../support/harness/inactive-courier.js';
import { makeResponseValidator } from '../support/contract/response-validator.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { digestOf, newServiceToken } from '../../src/platform/access/service-tokens.js';
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
import { serviceTokenOf } from '../support/service/principals.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';
import { sendRaw, talk, type RawReply } from '../support/service/wire.js';

// Failures that all operations have in common. Those of single operations (404, 409, 422) are in their own
// tests.

const { validate: validateReply } = makeResponseValidator(bundle);

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const declaring = (status: number) =>
  operationIds.filter((id) => (operationOf(id).statuses as readonly number[]).includes(status));

const declaringCode = (status: number, code: string) =>
  operationIds.filter((id) => codesOf(id, status).includes(code));

/** Returns credentials that the operation accepts. */
function authorized(id: OperationId): Call {
  const { credential } = operationOf(id);
  if (credential === 'none') return {};
  return credential === 'key' ? { key: DEMO.apiKeys.IEX } : { as: 'admin' };
}

/** Returns an authenticated request with invalid content. */
function withInvalidContent(id: OperationId): Call {
  const { method } = operationOf(id);
  // No operation stores or looks up text with a NUL.
  const content = method === 'GET' ? { query: { page: '0', id: 'none', '\0': '' } } : brokenBody(id);
  return { ...authorized(id), ...content };
}

const acceptsJson = (id: OperationId) =>
  (operationOf(id).mediaTypes as readonly string[]).includes('application/json');

const FORM = 'application/x-www-form-urlencoded';
const takesOnlyForms = (id: OperationId) => String(operationOf(id).mediaTypes) === FORM;

/** Returns a truncated body of a media type that the operation accepts. */
function brokenBody(id: OperationId): Call {
  if (acceptsJson(id)) return { body: '{' };
  if (takesOnlyForms(id)) return { body: 'a=%', headers: { 'content-type': FORM } };
  return { body: `--${BOUNDARY}\r\n`, headers: { 'content-type': MULTIPART_TYPE } };
}

/** Returns a body above the limit of the operation, or with a file above it. */
function largeBody(id: OperationId): Call {
  if (acceptsJson(id)) return { body: `"${'x'.repeat(1024 * 1024)}"` };
  if (takesOnlyForms(id)) return { urlencoded: { a: 'x'.repeat(1024 * 1024) } };
  return { form: { file: { file: Buffer.alloc(10 * 1024 * 1024 + 1) } } };
}

const hasBody = (id: OperationId) => operationOf(id).mediaTypes.length > 0;

const firstLine = (id: OperationId) => `${operationOf(id).method} ${filledPath(id)} HTTP/1.1\r\nHost: x\r\n`;

/** Validates a reply that was sent before routing as a reply of the given operation, and records it. */
function expectDeclared(id: OperationId, reply: RawReply | undefined, status: number): void {
  expect(reply?.status).toBe(status);
  const { headers = {}, text = '' } = reply ?? {};
  const header = (name: string) => headers[name.toLowerCase()]?.toString();
  expect(validateReply(id, { status, header, headerNames: Object.keys(headers), text })).toEqual([]);
  const mediaType = header('content-type')?.split(';')[0] ?? '';
  expect(failureFaults({ operationId: id, status, mediaType, text })).toEqual([]);
  observe({ operationId: id, status, mediaType, text });
}

describe('every operation returns the common failures that it declares', () => {
  test.each(declaring(405))('405 %s: a method that the path does not support', async (id) => {
    const { path } = operationOf(id);
    const method = METHODS.find((each) => each !== 'HEAD' && !methodsByPath.get(path)?.includes(each));
    expectDeclared(id, await sendRaw(service.url, { method, path: filledPath(id) }), 405);
  });

  test('408: a request that does not arrive in time', async () => {
    // A service of its own: the largest files of the other tests need longer on a busy machine.
    const impatient = await startService({ timeouts: { headersMs: 300, requestMs: 300 } });
    const ids = declaring(408);
    const late = await Promise.all(
      ids.map((id) => {
        const type = acceptsJson(id) ? 'application/json' : takesOnlyForms(id) ? FORM : MULTIPART_TYPE;
        const head = `${firstLine(id)}Content-Type: ${type}\r\n`;
        return talk(impatient.url, hasBody(id) ? `${head}Content-Length: 9\r\n\r\n{` : head);
      }),
    );
    await impatient.stop();
    for (const [index, id] of ids.entries()) {
      // An operation with credentials first rejects the missing one and then the late body.
      expectDeclared(id, late[index]?.at(-1), 408);
    }
  });

  test.each(declaring(413))('413 %s: a body over the size limit or a file over 10 MiB', async (id) => {
    const reply = await service.call(id, { ...authorized(id), ...largeBody(id) });
    expect(reply).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  test.each(declaring(415))('415 %s: a media type that the operation does not accept', async (id) => {
    const headers = { 'content-type': 'text/plain' };
    const reply = await service.call(id, { ...authorized(id), headers, body: '{}' });
    expect(reply).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test.each(declaring(431))('431 %s: headers over 16 KiB', async (id) => {
    const replies = await talk(service.url, `${firstLine(id)}X-Thing: ${'x'.repeat(20_000)}\r\n\r\n`);
    expectDeclared(id, replies[0], 431);
  });

  test.each(declaring(401).filter((id) => operationOf(id).credential !== 'none'))(
    '401 %s: no credential, or one of the other kind',
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

  // The only 403 of most public operations is for a request without HTTPS.
  test.each(declaring(403).filter((id) => codesOf(id, 403).some((code) => code !== 'https_required')))(
    '403 %s: a known credential without sufficient rights',
    async (id) => {
      expect(await service.call(id, withInsufficientCredential(id))).toMatchObject({
        status: 403,
        body: { status: 'fail' },
      });
    },
  );

  test.each(declaring(400))('400 %s: invalid content', async (id) => {
    expect(await service.call(id, withInvalidContent(id))).toMatchObject({
      status: 400,
      body: { status: 'fail' },
    });
  });

  test.each(declaringCode(400, 'body_required'))('400 %s: a missing body', async (id) => {
    expect(await service.call(id, authorized(id))).toMatchObject({
      status: 400,
      body: { code: 'body_required' },
    });
  });

  test.each(declaringCode(400, 'invalid_encoding').filter((id) => acceptsJson(id) || !hasBody(id)))(
    '400 %s: text that is not UTF-8, with the message of its example',
    async (id) => {
      const { method } = operationOf(id);
      const reply = acceptsJson(id)
        ? await service.call(id, { ...authorized(id), body: Buffer.from('{"\xff":1}', 'latin1') })
        : await service.request(method, `${filledPath(id)}?x=%ff`, authorized(id));
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_encoding' } });
      expect(exampleMessages(id, 400, 'invalid_encoding')).toEqual([reply.body['message']]);
    },
  );

  test.each(declaringCode(400, 'malformed_request'))(
    '400 %s: a header without a colon, and two Host headers',
    async (id) => {
      for (const header of ['broken', 'Host: y']) {
        const replies = await talk(service.url, `${firstLine(id)}${header}\r\nConnection: close\r\n\r\n`);
        expectDeclared(id, replies[0], 400);
      }
    },
  );

  function withInsufficientCredential(id: OperationId): Call {
    const { credential } = operationOf(id);
    if (credential === 'token') return { as: 'disabled' };
    if (credential === 'key')
      return { key: 'f'.repeat(64), body: { UserCode: 'IEX-1001', TrackingNumber: 'X1' } };
    return { body: { action: 'login', username: 'disabled', password: DEMO.password } };
  }
});

describe('rate limit configured by the operator', () => {
  let limited: Service;

  beforeAll(async () => {
    limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1' } });
  });

  afterAll(async () => {
    await limited.stop();
  });

  test.each(declaring(429))('%s returns 429 above the limit', async (id) => {
    await limited.call(id, withInvalidContent(id));
    const reply = await limited.call(id, withInvalidContent(id));
    expect(reply).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(reply.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  test('limits are counted per caller, and service operations have none', async () => {
    expect(await limited.call('listPrealerts', { as: 'manager' })).toMatchObject({ status: 200 });
    expect(await limited.call('listPrealerts', { as: 'manager' })).toMatchObject({ status: 429 });
    expect(await limited.call('listPrealerts', { as: 'warehouse' })).toMatchObject({ status: 200 });
    expect(await limited.call('listPrealerts', { as: 'two/admin' })).toMatchObject({ status: 200 });
    for (let calls = 0; calls < 5; calls += 1) {
      expect(await limited.call('getHealth')).toMatchObject({ status: 200 });
    }
  });
});

test('the next wrong API key after three hundred gets 429 too_many_attempts', async () => {
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

test('the next wrong service token of an address after three hundred gets 429 too_many_attempts, in every operation', async () => {
  const strict = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
  const guess = (id: OperationId, address = '192.0.2.1') => {
    const token = newServiceToken({ tokenId: randomUUID(), courierId: DEMO.couriers.IEX });
    return strict.call(id, { token, headers: { 'x-forwarded-for': address } });
  };
  const coded = ({ status, body }: Reply) => `${status} ${String(body['code'])}`;
  try {
    const ids = operationIds.filter((id) => operationOf(id).credential !== 'none');
    expect(ids.filter((id) => !declaringCode(429, 'too_many_attempts').includes(id))).toEqual([]);
    for (let round = 0; round < 300; round += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, n) => guess(ids[(round + n) % ids.length] ?? 'listPackages')),
      );
    const codes = await Promise.all(ids.map(async (id) => `${id} ${coded(await guess(id))}`));
    expect(codes).toEqual(ids.map((id) => `${id} 429 too_many_attempts`));
    expect(coded(await guess('listPackages', '198.51.100.1'))).toBe('401 service_token_invalid');
    // A damaged token counts too, and a right one is not limited.
    const other = { 'x-forwarded-for': '192.0.2.1' };
    expect(coded(await strict.call('listPackages', { token: 'cdk_x', headers: other }))).toBe(
      '429 too_many_attempts',
    );
    const token = await serviceTokenOf(strict, 'iex', ['packages:read']);
    expect((await strict.call('listPackages', { token, headers: other })).status).toBe(200);
  } finally {
    await strict.stop();
  }
});

test.each([
  ['expired', "expires_at = now() - interval '1 second'"],
  ['revoked', 'revoked_at = now()'],
  [
    'replaced',
    `previous_hash = token_hash, previous_digest_cipher = digest_cipher, previous_hint = hint, token_hash = 'another',
     previous_ends_at = now() - interval '1 second'`,
  ],
])(
  'a token that is %s counts like a wrong one of its address, and no longer as its courier',
  async (ended, end) => {
    const strict = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
    try {
      const token = await serviceTokenOf(strict, 'iex', ['packages:read']);
      const use = async (address: string) =>
        (await strict.call('listEvents', { token, headers: { 'x-forwarded-for': address } })).body['code'];
      const keyHash = strict.app.secrets.lookupHash(digestOf(token), 'service_token');
      const keyed = { tenantId: DEMO.tenants.demo, keyHash };
      expect(await use('192.0.2.1')).toBeUndefined();
      expect(strict.db.connectionShares.courierOfKey(keyed)).toBe(DEMO.couriers.IEX);
      await strict.owner.query(`update service_tokens set ${end}`);
      for (let round = 0; round < 300; round += 50)
        await Promise.all(Array.from({ length: 50 }, () => use('192.0.2.1')));
      expect(await use('192.0.2.1')).toBe('too_many_attempts');
      expect(await use('198.51.100.1')).toBe(`service_token_${ended}`);
      expect(strict.db.connectionShares.courierOfKey(keyed)).toBeUndefined();
    } finally {
      await strict.stop();
    }
  },
);

describe('a request without HTTPS where only HTTPS is served', () => {
  let staging: Service;

  beforeAll(async () => {
    staging = await startService({
      env: {
        APP_ENV: 'staging',
        TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
        ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
        LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
        TRUST_PROXY: '127.0.0.1',
      },
    });
  });

  afterAll(async () => {
    await staging.stop();
  });

  test.each(declaringCode(403, 'https_required'))('%s returns 403 https_required', async (id) => {
    const { method, path } = operationOf(id);
    const reply = await sendRaw(staging.url, { method, path });
    expectDeclared(id, reply, 403);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'https_required' });
  });
});

describe('the order of checks', () => {
  const large = 'x'.repeat(1024 * 1024 + 1);

  // Each request would also fail the checks of the rows below it.
  test.each<[string, number, string, Call]>([
    ['path', 404, '/nowhere', { token: 'not.a.token', body: large }],
    ['method', 405, '/api/ReceivePackage.php', { token: 'not.a.token', body: large }],
    ['size', 413, '/api/ManagePrealerts.php', { token: 'not.a.token', body: large }],
    [
      'media type',
      415,
      '/api/ManagePrealerts.php',
      { token: 'not.a.token', headers: { 'content-type': 'text/csv' }, body: '{' },
    ],
    ['token', 401, '/api/ManagePrealerts.php', { token: 'not.a.token', body: '{' }],
    ['account', 403, '/api/ManagePrealerts.php', { as: 'disabled', body: '{' }],
    ['content', 400, '/api/ManagePrealerts.php', { as: 'admin', body: '{' }],
  ])('the %s is checked before everything after it', async (_name, status, path, call) => {
    const method = status === 405 ? 'DELETE' : 'PUT';
    expect((await service.request(method, path, call)).status).toBe(status);
  });

  test('checks the permission before the content, and the content before the record', async () => {
    const calls: [OperationId, Call, number][] = [
      ['receivePackage', { as: 'iex', body: '{' }, 403],
      ['manageManifest', { as: 'iex', body: { action: 'nonsense' } }, 403],
      ['previewCourierInvoice', { as: 'warehouse', body: {} }, 403],
      ['replacePrealert', { as: 'iex', body: { prealert_id: DEMO.prealerts.pending.HRB[0] } }, 400],
      ['getManifest', { as: 'iex', query: { id: 'x' } }, 400],
    ];
    for (const [id, call, status] of calls)
      expect([id, (await service.call(id, call)).status]).toEqual([id, status]);
  });

  test('invalid content gets 401 with a stale token, and 403 for a disabled courier', async () => {
    const token = await service.tokenOf('hrb');
    const send = (body: unknown) => service.call('createPrealert', { token, body });
    expect(await send('{')).toMatchObject({ status: 400 });
    const refused = await whileInactive(service.owner, DEMO.couriers.HRB, () => send('{'));
    expect(refused).toMatchObject({ status: 403, body: { code: 'account_disabled' } });
    await service.owner.query('update users set token_version = token_version + 1 where id = $1', [
      DEMO.users.hrb,
    ]);
    expect(await send('{')).toMatchObject({ status: 401, body: { code: 'token_invalid' } });
    expect(await send({})).toMatchObject({ status: 401 });
  });
});

test('a disabled administrator gets 403 account_disabled from administrator operations', async () => {
  const token = await service.tokenOf('admin');
  const calls: [OperationId, Call][] = [
    ['listUsers', {}],
    ['manageUsers', { body: { action: 'enable', user_id: DEMO.users.hrb } }],
    ['listAuditEntries', {}],
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

test('a tracking number that was announced on either path of the public submission is a duplicate on both', async () => {
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

test('every operation that accepts JSON has an example body', () => {
  expect(new Set(bodyShapes().map(({ id }) => id))).toEqual(
    new Set(operationIds.filter((id) => hasBody(id) && acceptsJson(id))),
  );
});
