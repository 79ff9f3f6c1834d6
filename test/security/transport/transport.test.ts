import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { METHODS, methodsByPath } from '../../support/service/contract.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { startReplica, type Replica } from '../../support/service/processes.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';
import { receive, sendRaw, type RawReply } from '../../support/service/wire.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

/** Asserts the complete error envelope. */
function expectFailure(reply: RawReply, status: number, code: string): void {
  expect(reply).toMatchObject({ status });
  const body = JSON.parse(reply.text) as Record<string, unknown>;
  expect(body).toMatchObject({
    status: 'fail',
    code,
    message: expect.any(String),
    timestamp: expect.any(Number),
  });
  expect(body['request_id']).toBe(reply.headers['x-request-id']);
}

const fieldsOf = ({ body }: Reply) => [
  ...new Set(((body['errors'] ?? []) as { field: string }[]).map(({ field }) => field)),
];

describe('methods and paths', () => {
  const undeclared = [...methodsByPath].flatMap(([path, declared]) =>
    METHODS.filter((method) => !declared.includes(method)).map((method) => ({ path, method, declared })),
  );

  test.each(undeclared)(
    '$method $path is rejected with 405 and the allowed methods',
    async ({ path, method, declared }) => {
      const reply = await sendRaw(service.url, { method, path });
      expect(reply.headers['allow']?.split(', ').sort()).toEqual([...declared].sort());
      if (method === 'HEAD') expect(reply).toMatchObject({ status: 405, text: '' });
      else expectFailure(reply, 405, 'method_not_allowed');
      expect(reply.headers['x-request-id']).toMatch(/\S/);
    },
  );

  test.each([
    '/',
    '/api',
    '/api/',
    '/api/Prealert.php/',
    '/api/prealert.php',
    '/api/ManagePrealerts',
    '/api/Prealert.php.bak',
    '/api//Prealert.php',
    '/health/',
    '/%2e%2e/etc/passwd',
    '/constructor',
    '/__proto__',
    '/api/Prealert.php%00',
    `/api/${'x'.repeat(2000)}`,
  ])('%s returns 404 for every method', async (path) => {
    for (const method of METHODS) {
      const reply = await sendRaw(service.url, { method, path });
      if (method === 'HEAD') expect(reply).toMatchObject({ status: 404, text: '' });
      else expectFailure(reply, 404, 'route_not_found');
    }
  });

  test('an unknown path or method is rejected before a missing token or an invalid body', async () => {
    const body = Buffer.alloc(1024 * 1024 + 1, 'x');
    expectFailure(
      await sendRaw(service.url, { method: 'POST', path: '/nowhere', body }),
      404,
      'route_not_found',
    );
    expectFailure(
      await sendRaw(service.url, { method: 'PUT', path: '/api/login.php', body }),
      405,
      'method_not_allowed',
    );
  });

  test('an invalid percent-encoding in the path returns 400', async () => {
    for (const path of ['/api/%', '/api/%zz', '/%ff%fe', '/api/%c3%28']) {
      expectFailure(await sendRaw(service.url, { path }), 400, 'malformed_request');
    }
  });
});

describe('content types', () => {
  // This body violates the schema, so a success would show that it was not validated.
  const INVALID = JSON.stringify({ tracking_number: 5 });

  const send = async (headers: Record<string, string | string[]>, body: string | Buffer = INVALID) =>
    sendRaw(service.url, {
      method: 'POST',
      path: '/api/ManagePrealerts.php',
      headers: { authorization: `Bearer ${await service.tokenOf('admin')}`, ...headers },
      body,
    });

  test.each([
    'application/json',
    'Application/JSON',
    'APPLICATION/JSON',
    'aPPLICATION/jSON',
    'application/json;charset=utf-8',
    'application/json; charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; charset=utf8',
    'application/json; CHARSET=utf-8',
    'application/json ;charset=utf-8',
    'application/json\t',
    'application/json ',
    ' application/json',
    'application/json; profile="a;b"',
    'application/json; boundary=x',
    'application/json; charset=utf-8; profile=x',
    'application/json;\tcharset=utf-8',
    'application/json\t;\tcharset="UTF-8"\t',
    'application/json;',
    'application/json; ; charset=utf-8;',
    'application/json;charset="utf\\-8"',
    'application/json; profile="; charset=latin1"',
    'application/json; profile="a\\";b"',
  ])('%j is validated as JSON', async (contentType) => {
    const reply = await send({ 'content-type': contentType });
    expectFailure(reply, 400, 'validation_failed');
  });

  test.each([
    'text/plain',
    'text/json',
    'text/html',
    'text/plain; application/json',
    'text/plain;charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'multipart/form-data; boundary=x',
    'multipart/form-data; boundary=application/json',
    'application/jsonx',
    'application/json5',
    'application/xml',
    'application/octet-stream',
    'application/vnd.api+json',
    'application/json-patch+json',
    'application/*',
    '*/*',
    'json',
    'application',
    'application/',
    '/json',
    'application /json',
    'application/ json',
    'application/json, text/plain',
    'application/json,application/json',
    'application/json; charset=latin1',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-7',
    'application/json; charset=""',
    'application/json; charset="',
    'application/json; charset = utf-8',
    'application/json; profile="a\\"; charset=utf-8',
    'application/json; charset="latin1"',
    'application/json charset=utf-8',
    'application/json; =x',
    'application/json; x',
    'application/json\u00a0',
    '"application/json"',
    '',
  ])('%j is rejected with 415', async (contentType) => {
    expectFailure(await send({ 'content-type': contentType }), 415, 'unsupported_media_type');
  });

  test('a body without Content-Type is rejected with 415', async () => {
    expectFailure(await send({}), 415, 'unsupported_media_type');
  });

  test.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'x-unknown'])(
    'Content-Encoding %s is rejected with 415',
    async (encoding) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      expectFailure(await send(headers, gzipSync(INVALID)), 415, 'unsupported_media_type');
    },
  );

  test('a gzip body declared as plain JSON is rejected with 400', async () => {
    const reply = await send({ 'content-type': 'application/json' }, gzipSync(INVALID));
    expectFailure(reply, 400, 'invalid_encoding');
  });

  test('none of these requests stored anything', async () => {
    const { rows } = await service.owner.query("select * from prealerts where tracking_number = '5'");
    expect(rows).toEqual([]);
  });

  test('DELETE accepts a JSON body and rejects other media types', async () => {
    const headers = { authorization: `Bearer ${await service.tokenOf('admin')}` };
    const path = '/api/ManagePrealerts.php';
    const body = JSON.stringify({ prealert_id: DEMO.prealerts.pending.IEX[4] });
    const asText = { ...headers, 'content-type': 'text/plain' };
    expectFailure(
      await sendRaw(service.url, { method: 'DELETE', path, headers: asText, body }),
      415,
      'unsupported_media_type',
    );
    const asJson = { ...headers, 'content-type': 'application/json' };
    expect(await sendRaw(service.url, { method: 'DELETE', path, headers: asJson, body })).toMatchObject({
      status: 200,
    });
    const { rows } = await service.owner.query('select from prealerts where id = $1', [
      DEMO.prealerts.pending.IEX[4],
    ]);
    expect(rows).toEqual([]);
  });
});

describe('paging parameters', () => {
  // Spellings of query values. No value is clamped, rounded or reinterpreted.
  const SPELLINGS = [
    ...['0', '-1', '-0', '-1000001', '1e3', '1e20', '1E1', '1.5', '1.0', '.5', '1.', '0x10', '0b1', '0o7'],
    ...[
      ' 1',
      '1 ',
      '\t1',
      '1\n',
      '+1',
      '--1',
      '- 1',
      '',
      ' ',
      'abc',
      '1a',
      'a1',
      'NaN',
      'Infinity',
      '-Infinity',
    ],
    ...[
      'null',
      'undefined',
      'true',
      '[1]',
      '{}',
      '1,2',
      '1_000',
      '١',
      '１',
      '9007199254740993',
      '99999999999999999999',
    ],
  ];
  const VALUES = [
    0,
    -1,
    -0.5,
    1.5,
    1e20,
    -1e20,
    1e308,
    0.1,
    '1',
    '',
    'abc',
    ' 1',
    null,
    true,
    false,
    [],
    [1],
    {},
  ];

  test.each([
    ['page', [...SPELLINGS, '1000001']],
    ['limit', [...SPELLINGS, '501', '10001']],
  ])('listPrealerts rejects an invalid %s and names it', async (name, values) => {
    for (const value of values) {
      const reply = await service.call('listPrealerts', { as: 'admin', query: { [name]: value } });
      expect({ value, status: reply.status, fields: fieldsOf(reply) }).toEqual({
        value,
        status: 400,
        fields: [name],
      });
    }
    const repeated = await service.call('listPrealerts', { as: 'admin', query: { [name]: ['1', '2'] } });
    expect([repeated.status, fieldsOf(repeated)]).toEqual([400, [name]]);
  });

  test.each([
    ['page', [...VALUES, 1_000_001]],
    ['limit', [...VALUES, 10_001]],
  ])('listPackages rejects an invalid %s and names it', async (name, values) => {
    for (const value of values) {
      const reply = await service.call('listPackages', { as: 'admin', body: { [name]: value } });
      expect({ value, status: reply.status, fields: fieldsOf(reply) }).toEqual({
        value,
        status: 400,
        fields: [name],
      });
    }
    for (const spelling of ['NaN', 'Infinity', '0x10', '+1', '01', '1.', '.5', '1_0']) {
      const reply = await service.call('listPackages', { as: 'admin', body: `{"${name}":${spelling}}` });
      expect([spelling, reply.status, reply.body['code']]).toEqual([spelling, 400, 'malformed_json']);
    }
    const tooLarge = await service.call('listPackages', { as: 'admin', body: `{"${name}":1e400}` });
    expect([tooLarge.status, fieldsOf(tooLarge)]).toEqual([400, [name]]);
  });

  test('the bounds themselves are accepted', async () => {
    const bounds = { page: 1_000_000, limit: 500 };
    expect(await service.call('listPrealerts', { as: 'admin', query: bounds })).toMatchObject({
      status: 200,
      body: { data: [], meta: { current_page: 1_000_000, per_page: 500 } },
    });
    const body = { page: 1_000_000, limit: 10_000 };
    expect(await service.call('listPackages', { as: 'admin', body })).toMatchObject({
      status: 200,
      body: { data: [], meta: body },
    });
  });
});

describe('hostile JSON bodies', () => {
  const post = (body: string) => service.call('listPackages', { as: 'admin', body });

  test.each([
    ['arrays', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['arrays never closed', '['.repeat(1_000_000)],
    ['objects', '{"a":'.repeat(150_000) + '1' + '}'.repeat(150_000)],
    ['a field', `{"page":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
  ])('%s nested 150,000 or more levels deep are rejected with 400', async (_name, body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
  });

  test.each([
    '{',
    '',
    ' ',
    '{"page":1}{',
    '{"page":1,}',
    "{'page':1}",
    'undefined',
    '{"page":1}\u0000',
    '// {}',
  ])('%j is rejected as malformed JSON, and an empty text counts as no body', async (body) => {
    const expected = body === '' ? { status: 200 } : { status: 400, body: { code: 'malformed_json' } };
    expect(await post(body)).toMatchObject(expected);
  });

  test.each(['null', '1', '"x"', 'true', '[{"page":1}]'])('rejects %j: not an object', async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  });

  test.each([
    '{"__proto__":{"page":7}}',
    '{"__proto__":null}',
    '{"\\u005f_proto__":{"limit":7}}',
    '{"constructor":{"prototype":{"limit":7}}}',
    '{"page":1,"nested":{"__proto__":{"limit":7}}}',
    '{"page":1,"nested":[{"constructor":{"prototype":{"limit":7}}}]}',
  ])('%s is rejected, and no prototype changes', async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
    expect(({} as Record<string, unknown>)['limit']).toBeUndefined();
  });

  test.each(['toString', 'hasOwnProperty', 'prototype', 'valueOf', 'then', 'toJSON'])(
    'the key %s is ignored like any unknown key',
    async (key) => {
      const reply = await post(JSON.stringify({ [key]: 'x', limit: 1 }));
      expect(reply).toMatchObject({ status: 200, body: { meta: { limit: 1 } } });
    },
  );

  test.each([
    '__proto__',
    'constructor',
    'constructor.prototype',
    'prototype',
    '__proto__[limit]',
    'toString',
  ])('the query key %s is an unknown parameter', async (key) => {
    const reply = await service.call('listPrealerts', { as: 'admin', query: { [key]: '7', limit: 1 } });
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ code: 'unknown_parameter' }] } });
    expect(({} as Record<string, unknown>)['limit']).toBeUndefined();
  });
});

describe('text that PostgreSQL cannot store', () => {
  const query = async (search: string) =>
    sendRaw(service.url, {
      path: `/api/ManagePrealerts.php?${search}`,
      headers: { authorization: `Bearer ${await service.tokenOf('admin')}` },
    });

  test.each([
    ['a lone percent sign', 'search=%'],
    ['half an escape', 'search=%4'],
    ['no hex digits', 'search=%zz'],
    ['an invalid first byte', 'search=%ff'],
    ['an overlong slash', 'search=%c0%af'],
    ['a lone surrogate', 'search=%ed%a0%80'],
    ['a truncated sequence', 'search=%e2%82'],
    ['a code point beyond Unicode', 'search=%f4%90%80%80'],
    ['NUL', 'search=%00'],
    ['NUL in the middle', 'search=a%00b'],
    ['NUL in a key', 'a%00b=1'],
    ['a broken key', '%zz=1'],
    ['an invalid undeclared parameter', 'nobody=%ff'],
  ])('%s in a query is rejected with 400', async (_name, search) => {
    expectFailure(await query(search), 400, 'invalid_encoding');
  });

  test('a replacement character in the request is accepted as text', async () => {
    expect(await query('search=%ef%bf%bd')).toMatchObject({ status: 200 });
  });

  test.each([
    ['an invalid first byte', Buffer.from([0x22, 0xff, 0x22])],
    ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['a truncated sequence', Buffer.from([0x22, 0xe2, 0x82, 0x22])],
    ['an escaped lone surrogate', Buffer.from('"\\ud800"')],
    ['an escaped low surrogate', Buffer.from('"a\\udc00b"')],
    ['surrogates in the wrong order', Buffer.from('"\\udc00\\ud800"')],
    ['an escaped NUL', Buffer.from('"\\u0000"')],
  ])('%s in a body is rejected with 400', async (_name, value) => {
    const headers = {
      authorization: `Bearer ${await service.tokenOf('admin')}`,
      'content-type': 'application/json',
    };
    const bodies = [
      Buffer.concat([Buffer.from('{"shipper":'), value, Buffer.from('}')]),
      Buffer.concat([Buffer.from('{'), value, Buffer.from(':1}')]),
      Buffer.concat([Buffer.from('{"nobody":[{"x":'), value, Buffer.from('}]}')]),
    ];
    for (const body of bodies) {
      const reply = await sendRaw(service.url, {
        method: 'POST',
        path: '/api/RetrievePackages.php',
        headers,
        body,
      });
      expectFailure(reply, 400, 'invalid_encoding');
    }
  });
});

describe('headers of every response', () => {
  test('X-Request-Id is generated by the service, unique, and equal to the one in the body', async () => {
    const headers = { 'x-request-id': 'chosen-by-the-caller' };
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => service.call('submitPrealert', { headers, body: {} })),
    );
    const ids = replies.map((reply) => reply.headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(100);
    expect(ids).not.toContain('chosen-by-the-caller');
    for (const reply of replies) expect(reply.body['request_id']).toBe(reply.headers.get('x-request-id'));
  });

  test.each([
    ['a success response', () => service.call('getHealth')],
    ['an error response', () => service.call('listPrealerts')],
    ['the response to an unknown path', () => service.request('GET', '/nowhere')],
    ['the response to a wrong method', () => service.request('PUT', '/health')],
  ])('%s has the security headers', async (_name, send) => {
    const { headers } = await send();
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toMatch(/\S/);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('referrer-policy')).toMatch(/\S/);
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('staging requires HTTPS', () => {
  let staging: Service;

  const STAGING = {
    APP_ENV: 'staging',
    TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
    ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
    LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
  };

  beforeAll(async () => {
    staging = await startService({ env: { ...STAGING, TRUST_PROXY: '127.0.0.1' } });
  });

  afterAll(async () => {
    await staging.stop();
  });

  test('a plain HTTP request is rejected before its credential is checked', async () => {
    for (const call of [{}, { as: 'admin' }, { headers: { 'x-forwarded-proto': 'http' } }]) {
      expect(await staging.call('listPrealerts', call)).toMatchObject({
        status: 403,
        body: { code: 'https_required' },
      });
    }
    expect(await staging.call('login', { body: {} })).toMatchObject({ status: 403 });
    expect(await staging.call('submitPrealert', { body: {} })).toMatchObject({ status: 403 });
  });

  test('a request that reached the trusted proxy over TLS is served with HSTS', async () => {
    const headers = { 'x-forwarded-proto': 'https' };
    const reply = await staging.call('listPrealerts', { as: 'admin', headers });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('strict-transport-security')).toMatch(/max-age=\d{7,}/);
  });

  test('health checks work without TLS', async () => {
    expect(await staging.call('getHealth')).toMatchObject({ status: 200 });
    expect(await staging.call('getReadiness')).toMatchObject({ status: 200 });
  });

  test("the service's own TLS counts, and slow requests get the same timeouts", async () => {
    const files = {
      TLS_CERT_FILE: join(projectRoot, 'test', 'support', 'receivers', 'localhost.pem'),
      TLS_KEY_FILE: join(projectRoot, 'test', 'support', 'receivers', 'localhost-key.pem'),
    };
    const timeouts = { headersMs: 300, requestMs: 600 };
    const secure = await startService({ env: { ...STAGING, ...files }, timeouts });
    try {
      const ca = readFileSync(files.TLS_CERT_FILE);
      const talk = async (bytes: string) => {
        const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(secure.url).port), ca });
        const replies = receive(socket);
        socket.write(bytes);
        return replies;
      };
      const request = 'GET /api/ManagePrealerts.php HTTP/1.1\r\nHost: x\r\n';
      const [served] = await talk(`${request}Connection: close\r\n\r\n`);
      expect(served).toMatchObject({
        status: 401,
        headers: { 'strict-transport-security': expect.any(String) },
      });
      const [timedOut] = await talk(request);
      if (!timedOut) throw new Error('The connection closed without a response.');
      expectFailure(timedOut, 408, 'request_timeout');
    } finally {
      await secure.stop();
    }
  });

  test('no proxy is trusted in development', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': DEMO.hosts.two };
    const reply = await service.call('listPrealerts', { as: 'admin', headers });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('strict-transport-security')).toBeNull();
  });

  test('a token of another deployment is rejected', async () => {
    const token = await service.tokenOf('admin');
    const reply = await staging.call('listPrealerts', { token, headers: { 'x-forwarded-proto': 'https' } });
    expect(reply).toMatchObject({ status: 401, body: { code: 'token_invalid' } });
  });
});

describe('host names', () => {
  test('one tenant is served on any host, several tenants only on their own hosts', async () => {
    const alone = await startService({ demo: false });
    try {
      const health = { host: 'anything.example' };
      expect(await alone.call('getHealth', health)).toMatchObject({ status: 200 });
      // There is no tenant yet.
      expect(await alone.call('listPrealerts', { host: 'one.example' })).toMatchObject({
        status: 404,
        body: { code: 'unknown_host' },
      });
      await insertTenant(alone, 'one', 'one.example');
      expect(await alone.call('listPrealerts', { host: 'anything.example' })).toMatchObject({ status: 401 });
      await insertTenant(alone, 'two', 'two.example');
      for (const host of ['one.example:3000', 'TWO.example', 'two.example.', 'one.example']) {
        const reply = await alone.call('listPrealerts', { host });
        // `one.example` was rejected a moment ago, and this may be cached for a while.
        expect([host, reply.status]).toEqual([host, host.startsWith('one') ? reply.status : 401]);
      }
      for (const host of [
        'three.example',
        'one.example.evil',
        'xone.example',
        '*',
        '%',
        "'",
        'ö.example',
        '-',
      ]) {
        const reply = await alone.call('listPrealerts', { host });
        expect([host, reply.status, reply.body['code']]).toEqual([host, 404, 'unknown_host']);
      }
    } finally {
      await alone.stop();
    }
  });

  test("a token is rejected on another tenant's host", async () => {
    const calls = [
      { token: await service.tokenOf('admin'), host: DEMO.hosts.two },
      { token: await service.tokenOf('two/admin') },
    ];
    for (const call of calls) {
      const reply = await service.call('listPrealerts', call);
      expect(reply).toMatchObject({ status: 401, body: { status: 'error', code: 'token_invalid' } });
    }
  });

  test("a key on another tenant's host is rejected like an unknown key", async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: 'ELSEWHERE-1' };
    const calls = [
      { key: DEMO.apiKeys.IEX, host: DEMO.hosts.two, body },
      { key: DEMO.apiKeys.TWO, body },
      { key: 'f'.repeat(64), body },
    ];
    const bodies = [];
    for (const call of calls) {
      const reply = await service.call('submitPrealert', call);
      expect(reply).toMatchObject({ status: 403, body: { code: 'key_invalid' } });
      bodies.push({ ...reply.body, request_id: '', timestamp: 0 });
    }
    expect(new Set(bodies.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  async function insertTenant({ owner }: Service, slug: string, host: string): Promise<void> {
    await owner.query(
      `with tenant as (insert into tenants (id, slug, name) values (gen_random_uuid(), $1, $1) returning id)
       insert into tenant_hosts (tenant_id, host) select id, $2 from tenant`,
      [slug, host],
    );
  }
});

describe('a separate process', () => {
  let database: TestDatabase;
  let replica: Replica;

  beforeAll(async () => {
    database = await demoDatabase();
    replica = await startReplica({ DATABASE_URL: database.ownerUrl, LOG_LEVEL: 'trace' });
  });

  afterAll(async () => {
    await replica.stop();
    await database.drop();
  });

  function residentBytes({ child }: Replica): number {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
  }

  test('logs no key, token or password', async () => {
    const secrets = {
      key: 'a'.repeat(64),
      password: 'not-the-password-8471',
      token: 'eyJ.secret-token.part',
    };
    const json = { 'content-type': 'application/json' };
    const requests: Parameters<typeof sendRaw>[1][] = [
      {
        method: 'POST',
        path: `/api/Prealert.php?api_key=${secrets.key}`,
        headers: json,
        body: JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: 'LOGGED-1' }),
      },
      { path: `/nowhere?api_key=${secrets.key}` },
      { path: `/api/Prealert.php?api_key=${secrets.key}` },
      { path: '/api/ManagePrealerts.php', headers: { authorization: `Bearer ${secrets.token}` } },
      { path: '/api/ManagePrealerts.php', headers: { 'x-api-key': secrets.key } },
      {
        method: 'POST',
        path: '/api/login.php',
        headers: json,
        body: JSON.stringify({ action: 'login', username: 'admin', password: secrets.password }),
      },
    ];
    const statuses = [];
    for (const request of requests) statuses.push((await sendRaw(replica.url, request)).status);
    expect(statuses).toEqual([201, 404, 405, 401, 401, 401]);

    const log = replica.output();
    expect(log.match(/"path":"\/api\/Prealert.php"/g)?.length).toBeGreaterThan(0);
    // The greeting shows how to create the demo key, never the key itself.
    for (const secret of Object.values(secrets)) expect(log).not.toContain(secret);
    expect(log).not.toContain('api_key=');
  });

  const LOGIN = { method: 'POST', path: '/api/login.php', headers: { 'content-type': 'application/json' } };
  const MIB = 1024 * 1024;

  test.each([
    ['with a Content-Length', Buffer.alloc(MIB + 1, ' ')],
    ['in chunks', Array.from({ length: 17 }, () => Buffer.alloc(64 * 1024, ' '))],
  ])('a body over 1 MiB %s gets 413', async (_name, body) => {
    expectFailure(await sendRaw(replica.url, { ...LOGIN, body }), 413, 'body_too_large');
  });

  test('100 parallel bodies over 1 MiB with a Content-Length get 413 and need less than 64 MiB of memory', async () => {
    const { replies, grownMib } = await watchMemory(() =>
      Promise.all(
        Array.from({ length: 100 }, () =>
          sendRaw(replica.url, { ...LOGIN, body: Buffer.alloc(MIB + 1, ' ') }),
        ),
      ),
    );
    for (const reply of replies) expectFailure(reply, 413, 'body_too_large');
    expect(grownMib).toBeLessThan(64);
  });

  test('100 parallel bodies of 1 MiB in chunks get 413 and need less than 64 MiB of memory', async () => {
    const chunks = Array.from({ length: 16 }, () => Buffer.alloc(64 * 1024, ' '));
    const { replies, grownMib } = await watchMemory(() =>
      Promise.all(Array.from({ length: 100 }, () => sendRaw(replica.url, { ...LOGIN, body: chunks }))),
    );
    for (const reply of replies) expectFailure(reply, 413, 'body_too_large');
    expect(grownMib).toBeLessThan(64);
  });

  /** Returns by how much the service's memory grew at the peak of `work`. */
  async function watchMemory<Result>(
    work: () => Promise<Result>,
  ): Promise<{ replies: Result; grownMib: number }> {
    const before = residentBytes(replica);
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, residentBytes(replica))), 5);
    const replies = await work();
    clearInterval(watch);
    return { replies, grownMib: (Math.max(peak, residentBytes(replica)) - before) / MIB };
  }

  test('login reads a body of exactly 4 KiB', async () => {
    const body = JSON.stringify({ action: 'login', pad: '' });
    const padded = body.replace('""', `"${'x'.repeat(4_096 - body.length)}"`);
    expect(Buffer.byteLength(padded)).toBe(4_096);
    const reply = await sendRaw(replica.url, { ...LOGIN, body: padded });
    expectFailure(reply, 422, 'credentials_required');
  });
});
