import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { filledPath, operationIds, operationOf } from '../../support/service/contract.js';
import { MULTIPART_TYPE, multipartBody } from '../../support/service/forms.js';
import { rounds } from '../../support/harness/effort.js';
import { spoolFiles, watchSpoolFiles } from '../../support/readers/spool-files.js';
import { until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';
import { openSocket, receive, sendRaw, type RawReply } from '../../support/service/wire.js';

let service: Service;

/** Callers whose credential looks valid until the database is queried, with the expected refusal. */
const refused: {
  who: string;
  status: number;
  code: string;
  headers: () => Promise<Record<string, string>>;
}[] = [
  {
    who: 'a disabled user',
    status: 403,
    code: 'account_disabled',
    headers: async () => bearer(await tokenWith({ user: DISABLED })),
  },
  {
    who: 'an expired token',
    status: 401,
    code: 'token_expired',
    headers: async () => bearer(await tokenWith({ expired: true })),
  },
  {
    who: 'a token from before a password change',
    status: 401,
    code: 'token_invalid',
    headers: async () => bearer(await tokenWith({ version: -1 })),
  },
];

/** A user with every permission. */
const DISABLED = randomUUID();

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function tokenWith({ user = DEMO.users.admin, expired = false, version = 0 }): Promise<string> {
  const { rows } = await service.owner.query<{ now_s: number; token_version: number }>(
    'select extract(epoch from now())::int as now_s, token_version from users where id = $1',
    [user],
  );
  const { now_s = 0, token_version = 0 } = rows[0] ?? {};
  return service.app.tokens.issue(
    {
      tenantId: DEMO.tenants.demo,
      userId: user,
      role: 'admin',
      courierId: null,
      tokenVersion: token_version + version,
    },
    expired ? now_s - 9 * 60 * 60 : now_s,
  );
}

let written: ReturnType<typeof watchSpoolFiles>;

beforeAll(async () => {
  service = await startService();
  await service.owner.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash, is_active)
     values ($1, $2, 'disabled-admin', 'F', 'admin', 'x', false)`,
    [DEMO.tenants.demo, DISABLED],
  );
  written = watchSpoolFiles();
});

afterAll(async () => {
  written.stop();
  await service.stop();
});

beforeEach(() => {
  written.names.length = 0;
});

type Sent = { type?: string; length?: number | 'chunked'; headers?: Record<string, string> };

/** Returns only the head of a request. A service that waits for the body responds only after a timeout. */
function headOf(id: OperationId, { type = 'application/json', length = 0, headers = {} }: Sent): string {
  const size = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  const others = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const { method } = operationOf(id);
  return `${method} ${filledPath(id)} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${size}\r\n${others.join('')}\r\n`;
}

/** Returns the response that arrives although no byte of the body was sent. */
async function replyToHead(head: string): Promise<RawReply & { ms: number }> {
  const socket = await openSocket(service.url);
  const replies = receive(socket);
  const started = performance.now();
  socket.write(head);
  // Fails if the service waits for the body, because its timeout is longer.
  await once(socket, 'data', { signal: AbortSignal.timeout(5_000) });
  const ms = performance.now() - started;
  socket.end();
  const [reply] = await replies;
  if (!reply) throw new Error('There was no reply.');
  return { ...reply, ms };
}

const codeOf = ({ text }: RawReply) => (JSON.parse(text) as { code: string }).code;

const withBody = operationIds.filter((id) => operationOf(id).mediaTypes.length > 0);
const ofUsers = withBody.filter((id) => operationOf(id).credential === 'token' && id !== 'changePassword');
const accepts = (id: OperationId, type: string) =>
  (operationOf(id).mediaTypes as readonly string[]).includes(type);
const uploads = withBody.filter((id) => accepts(id, 'multipart/form-data'));

describe.each(refused)('$who', ({ status, code, headers }) => {
  test.each(uploads)(
    '%s: is rejected before a byte of the upload is read, and nothing is spooled',
    async (id) => {
      const head = headOf(id, { type: MULTIPART_TYPE, length: 1024 * 1024, headers: await headers() });
      const reply = await replyToHead(head);
      expect([reply.status, codeOf(reply), reply.headers['connection']]).toEqual([status, code, 'close']);
      expect(written.names).toEqual([]);
    },
  );

  test('is rejected before a large body is read, for every operation', async () => {
    for (const id of ofUsers.filter((each) => accepts(each, 'application/json'))) {
      for (const length of [40_000, 'chunked'] as const) {
        const reply = await replyToHead(headOf(id, { length, headers: await headers() }));
        expect([id, length, reply.status, codeOf(reply)]).toEqual([id, length, status, code]);
      }
    }
  });
});

test('an invalid API key is rejected before a large body is read', async () => {
  for (const id of withBody.filter((each) => operationOf(each).credential === 'key')) {
    const reply = await replyToHead(headOf(id, { length: 40_000, headers: { 'X-API-KEY': 'f'.repeat(64) } }));
    expect([id, reply.status, codeOf(reply)]).toEqual([id, 403, 'key_invalid']);
  }
});

describe('a client that sends 10 MiB nevertheless', () => {
  const form = multipartBody({
    target_courier_id: DEMO.couriers.IEX,
    file: { file: Buffer.alloc(10 * 1024 * 1024, 'a,b,c\n') },
  });

  test.each(['close', 'keep-alive'])(
    'with Connection: %s reads the refusal instead of a connection reset',
    async (connection) => {
      const headers = {
        ...bearer(await service.tokenOf('disabled')),
        'content-type': MULTIPART_TYPE,
        connection,
      };
      const send = () =>
        sendRaw(service.url, { method: 'POST', path: '/api/UploadCustomers.php', headers, body: form });
      for (let round = 0; round < rounds(2, 5); round += 1) {
        const replies = await Promise.all([send(), send(), send(), send()]);
        expect(replies.map(codeOf)).toEqual(Array(4).fill('account_disabled'));
      }
      expect(written.names).toEqual([]);
    },
  );

  test('an authorized client is served', async () => {
    const headers = { ...bearer(await service.tokenOf('admin')), 'content-type': MULTIPART_TYPE };
    const reply = await sendRaw(service.url, {
      method: 'POST',
      path: '/api/UploadCustomers.php',
      headers,
      body: form,
    });
    expect(codeOf(reply)).toBe('validation_failed');
    expect(written.names).not.toEqual([]);
    await until(async () => spoolFiles().length === 0);
  });
});

describe('Expect: 100-continue', () => {
  const body = multipartBody({ file: { file: 'h,h,h\nEXPECT-1,a,b\n' }, dry_run: '1' });
  const head = async (user: string) =>
    headOf('uploadCustomers', {
      type: MULTIPART_TYPE,
      length: body.length,
      headers: { ...bearer(await service.tokenOf(user)), Expect: '100-continue' },
    });

  test('a rejected client never gets 100 Continue, and the connection closes', async () => {
    const reply = await replyToHead(await head('disabled'));
    expect([reply.status, reply.headers['connection']]).toEqual([403, 'close']);
  });

  test('an authorized client gets 100 Continue and is served', async () => {
    const socket = await openSocket(service.url);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(await head('iex'));
    await untilReceived(socket, chunks, 'HTTP/1.1 100 Continue');
    socket.write(body);
    await untilReceived(socket, chunks, 'HTTP/1.1 200 OK');
    socket.destroy();
    expect(
      Buffer.concat(chunks)
        .toString()
        .match(/^HTTP\/1\.1 \d+/gm),
    ).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
  });

  const untilReceived = (socket: Socket, chunks: Buffer[], text: string) =>
    until(async () => socket.bytesRead > 0 && Buffer.concat(chunks).toString().includes(text), 5_000);
});

describe('the body size limit of an operation', () => {
  const sized = withBody.filter((id) => accepts(id, 'application/json'));
  const formatSize = (bytes: number) =>
    bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;
  const credential = async (id: OperationId): Promise<Record<string, string>> => {
    const { credential: kind } = operationOf(id);
    if (kind === 'none') return {};
    return kind === 'key' ? { 'X-API-KEY': DEMO.apiKeys.IEX } : bearer(await service.tokenOf('admin'));
  };

  test.each(sized)(
    '%s: one byte over the limit gets 413 that names the limit, by Content-Length and in chunks',
    async (id) => {
      const limit = operationOf(id).maxBodyBytes ?? 0;
      const headers = await credential(id);
      const declared = await replyToHead(headOf(id, { length: limit + 1, headers }));
      const { method } = operationOf(id);
      const chunks = [Buffer.alloc(limit, ' '), Buffer.from(' ')];
      // Node's client sends no chunks with DELETE.
      const measured =
        method === 'DELETE'
          ? declared
          : await sendRaw(service.url, {
              method,
              path: filledPath(id),
              headers: { ...headers, 'content-type': 'application/json' },
              body: chunks,
            });
      for (const reply of [declared, measured]) {
        expect([reply.status, codeOf(reply)]).toEqual([413, 'body_too_large']);
        expect(reply.text).toContain(`larger than ${formatSize(limit)}`);
      }
    },
  );

  test.each(sized)('%s: a body of exactly the limit is read', async (id) => {
    const limit = operationOf(id).maxBodyBytes ?? 0;
    const reply = await sendRaw(service.url, {
      method: operationOf(id).method,
      path: filledPath(id),
      headers: { ...(await credential(id)), 'content-type': 'application/json' },
      body: `[1${' '.repeat(limit - 3)}]`,
    });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'validation_failed']);
  });

  test('the limit is 4 KiB for login and 64 KiB for most operations', () => {
    const limits = sized.map((id) => operationOf(id).maxBodyBytes);
    expect(operationOf('login').maxBodyBytes).toBe(4_096);
    expect(limits.filter((limit) => limit === 64 * 1024).length).toBeGreaterThan(limits.length / 2);
    expect(Math.max(...limits.map(Number))).toBe(1024 * 1024);
  });
});

describe('the structure of a JSON body', () => {
  const post = (body: string) => service.call('listPackages', { as: 'admin', body });

  test('20,000 values are accepted, one more is rejected before parsing', async () => {
    const zeros = (count: number) => `{"x":[${Array(count).fill(0).join()}]}`;
    expect(await post(zeros(19_998))).toMatchObject({ status: 200 });
    expect(await post(zeros(19_999))).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'body', code: 'maxItems' }] },
    });
  });

  test('commas and brackets inside strings do not count', async () => {
    expect(await post(JSON.stringify({ x: `${',[{'.repeat(30_000)}"\\"` }))).toMatchObject({ status: 200 });
  });

  test('32 levels are accepted, one more is rejected', async () => {
    const nested = (depth: number) => `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(await post(nested(32))).toMatchObject({ status: 200 });
    expect(await post(nested(33))).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
  });

  test('a string that cannot be stored is reported with its path at any depth', async () => {
    for (const [body, field] of [
      ['{"a":{"b":[0,{"c":"\\u0000"}]}}', 'a.b[1].c'],
      ['["\\ud800"]', 'body[0]'],
      ['{"a":{"\\u0000":1}}', 'a'],
      ['"\\u0000"', 'body'],
    ] as const)
      expect(await post(body)).toMatchObject({
        status: 400,
        body: { errors: [{ field, code: 'encoding' }] },
      });
  });

  test('a list that is too long is the only reported error, without errors of its elements', async () => {
    const package_ids = Array.from({ length: 10_001 }, () => 'x');
    const reply = await service.call('listPackages', {
      as: 'admin',
      body: { action: 'queue_dispatch', package_ids },
    });
    expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(reply.body['errors']).toEqual([
      { field: 'package_ids', code: 'maxItems', message: 'package_ids must have at most 10000 items.' },
    ]);
  });

  test('an urlencoded form has at most 100 fields', async () => {
    const form = (count: number) =>
      ['action=regenerate_key', ...Array.from({ length: count - 1 }, (_, n) => `k${n}=1`)].join('&');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = (body: string) => service.call('updateCourierSettings', { as: 'iex', headers, body });
    expect(await send(form(101))).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'body', code: 'maxItems' }] },
    });
    expect(await send(form(100))).toMatchObject({ status: 200 });
  });
});
