import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { operations } from '../../../generated/operations.js';
import { rounds } from '../../support/harness/effort.js';
import { codeOf } from '../../support/service/client.js';
import { assemble, BOUNDARY, MULTIPART_TYPE, toParts, type FormFields } from '../../support/service/forms.js';
import { makeMutants } from '../../support/attacks/mutations.js';
import { spoolFiles, watchSpoolFiles } from '../../support/readers/spool-files.js';
import { whileUnwritable } from '../../support/harness/meanwhile.js';
import { until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';
import { openSocket, receive, sendRaw, talk, type RawReply } from '../../support/service/wire.js';

const PATH = operations.uploadCustomers.path;
const STATUSES: readonly number[] = operations.uploadCustomers.statuses;

let service: Service;
let authorization: string;
/** The response to a form whose rest never arrives. It times out in parallel to the other tests. */
let lateReplies: Promise<RawReply[]>;

beforeAll(async () => {
  service = await startService({ timeouts: { headersMs: 1_000, requestMs: 3_000 } });
  authorization = `Bearer ${await service.tokenOf('iex')}`;
  lateReplies = sendTooLittle();
  lateReplies.catch(() => {});
});

afterAll(async () => {
  await service.stop();
});

// The response is sent before the spool files are deleted.
afterEach(() => until(async () => spoolFiles().length === 0, 10_000));

const LARGE = Buffer.alloc(9 * 1024 * 1024, 'code,a,b\n');
const bytesOf = (form: FormFields) => assemble(toParts(form));
const CSV = { file: 'h,h,h\nPART-1,a,b\n' };

const post = (body: Buffer | Buffer[], headers: Record<string, string> = {}) =>
  sendRaw(service.url, {
    method: 'POST',
    path: PATH,
    headers: { authorization, 'content-type': MULTIPART_TYPE, ...headers },
    body,
  });

const MUTANTS = rounds(150, 2_000);
const LEAVERS = rounds(30, 200);

// test/contract/multiparts sends differently damaged bodies to all operations with forms.
describe(`${MUTANTS} mutated multipart forms`, () => {
  const SEED = 20261121;
  const mutants = makeMutants(MUTANTS, SEED);

  test('each gets a response that the operation declares, and none an internal error', async () => {
    const seen: Record<string, Set<number>> = {};
    const wrong: string[] = [];
    const queue = mutants.entries();
    const work = async () => {
      for (const [index, { kind, type, body }] of queue) {
        const reply = await post(body, { 'content-type': type }).catch(codeOf);
        const status = typeof reply === 'string' ? reply : reply.status;
        if (typeof status === 'number' && STATUSES.includes(status) && status < 500)
          (seen[kind] ??= new Set()).add(status);
        else wrong.push(`${SEED}/${index} ${kind}: ${status}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(wrong).toEqual([]);
    // Valid forms are accepted, broken ones are not.
    expect(seen['whole']).toEqual(new Set([200]));
    for (const kind of ['truncated', 'noise', 'a file as a field', 'parts repeated', 'beginning missing'])
      expect([kind, seen[kind]?.has(400)]).toEqual([kind, true]);
    expect(seen['too many parts']).toEqual(new Set([413]));
    // JavaScript's built-in prototypes are unchanged.
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)['dry_run']).toBeUndefined();
  }, 240_000);
});

describe('a form that is rejected before it is read completely', () => {
  const forms: [string, Buffer, number][] = [
    [
      'a field sent twice',
      Buffer.concat([
        assemble([
          ...toParts({ dry_run: '0' }),
          ...toParts({ dry_run: '1' }),
          ...toParts({ file: { file: LARGE } }),
        ]),
      ]),
      400,
    ],
    ['a file sent twice', assemble([...toParts({ file: CSV }), ...toParts({ file: { file: LARGE } })]), 400],
    [
      'a text where the file should be',
      assemble([...toParts({ file: 'x' }), ...toParts({ other: { file: LARGE } })]),
      400,
    ],
    [
      'text that is not UTF-8',
      assemble([
        { headers: ['Content-Disposition: form-data; name="dry_run"'], content: Buffer.from([0xff]) },
        ...toParts({ file: { file: LARGE } }),
      ]),
      400,
    ],
    [
      'a file of 10 MiB and a byte',
      bytesOf({ file: { file: Buffer.alloc(10 * 1024 * 1024 + 1, 'a') }, dry_run: '1' }),
      413,
    ],
  ];

  test.each(forms)('%s: the connection serves the next request', async (_name, body, status) => {
    const next = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const replies = await talk(
      service.url,
      Buffer.concat([Buffer.from(headOf(body.length)), body, Buffer.from(next)]),
    );
    expect(replies.map((reply) => reply.status)).toEqual([status, 200]);
  });
});

describe('size limits of forms', () => {
  test('a file of 10 MiB is read, and one byte more gets 413, with and without a Content-Length', async () => {
    // A single endless row: read completely, then rejected as invalid.
    const limit = 10 * 1024 * 1024;
    const whole = bytesOf({ file: { file: Buffer.alloc(limit, 'a') } });
    const over = bytesOf({ file: { file: Buffer.alloc(limit + 1, 'a') } });
    for (const [body, status] of [
      [whole, 400],
      [over, 413],
    ] as const) {
      const chunks = Array.from({ length: Math.ceil(body.length / 65_536) }, (_, n) =>
        body.subarray(n * 65_536, (n + 1) * 65_536),
      );
      const replies = [await post(body), await post(chunks)];
      expect(replies.map((reply) => reply.status)).toEqual([status, status]);
    }
  });

  test('a form that declares more than the maximum file size gets 413 before it is sent', async () => {
    const socket = await openSocket(service.url);
    const replies = receive(socket);
    socket.write(headOf(11 * 1024 * 1024));
    const started = performance.now();
    await until(async () => socket.bytesRead > 0, 2_000);
    expect(performance.now() - started).toBeLessThan(1_500);
    socket.end();
    expect((await replies)[0]?.status).toBe(413);
  });

  test('a form in one-byte chunks without Content-Length is accepted', async () => {
    const body = bytesOf({ file: CSV, dry_run: '1' });
    const bytes = Array.from(body, (_, n) => body.subarray(n, n + 1));
    expect((await post(bytes)).status).toBe(200);
  });
});

const headOf = (length: number) =>
  `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${length}\r\n\r\n`;

async function sendTooLittle(): Promise<RawReply[]> {
  const body = bytesOf({ file: CSV, dry_run: '1' });
  const socket = await openSocket(service.url);
  const replies = receive(socket);
  socket.write(Buffer.concat([Buffer.from(headOf(body.length + 20)), body.subarray(0, -10)]));
  return replies;
}

describe('a wrong Content-Length', () => {
  const body = bytesOf({ file: CSV, dry_run: '1' });

  test('too short: the truncated form is rejected, and the rest is not read as a request', async () => {
    const socket = await openSocket(service.url);
    const replies = receive(socket);
    socket.write(Buffer.concat([Buffer.from(headOf(body.length - 20)), body]));
    const [first] = await Promise.race([replies, sleep(8_000, [], { ref: false })]);
    expect(first?.status).toBe(400);
    socket.destroy();
  });

  test('too long: 408 if the rest does not arrive', async () => {
    expect((await lateReplies).map(({ status }) => status)).toEqual([408]);
  });
});

describe('clients that disconnect', () => {
  test(`${LEAVERS} clients that disconnect at any point leave no spool file and no open connection`, async () => {
    const head = headOf(LARGE.length + 1_000);
    const start = Buffer.concat([
      Buffer.from(head),
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="c.csv"\r\n\r\n`),
      LARGE,
    ]);
    const lengths = Array.from({ length: LEAVERS }, (_, n) =>
      n % 3 === 0 ? head.length + n : Math.floor((start.length * (n + 1)) / LEAVERS),
    );
    const queue = lengths.values();
    const work = async () => {
      for (const length of queue) {
        const socket = await openSocket(service.url);
        socket.on('error', () => undefined);
        await new Promise<void>((resolve) => socket.write(start.subarray(0, length), () => resolve()));
        if (length % 2) await sleep(5);
        socket.destroy();
      }
    };
    const written = watchSpoolFiles();
    try {
      await Promise.all(Array.from({ length: 8 }, work));
      await until(async () => spoolFiles().length === 0, 10_000);
      await until(async () => (await connections()) === 0, 10_000);
      expect(written.names).not.toEqual([]);
    } finally {
      written.stop();
    }
  }, 60_000);

  test('an upload that was sent completely is executed, and its spool file deleted', async () => {
    const body = bytesOf({ file: { file: 'h,h,h\nGONE-1,a,b\n' } });
    const socket = await openSocket(service.url);
    socket.on('error', () => undefined);
    // The upload waits in its transaction until the client is gone.
    const leave = async () => {
      socket.destroy();
      await until(async () => (await connections()) === 0, 10_000);
    };
    await whileUnwritable(service.owner, { table: 'customers', waiting: 1, beforeRelease: leave }, () => {
      socket.write(Buffer.concat([Buffer.from(headOf(body.length)), body]));
      return once(socket, 'close');
    });
    const isStored = async () =>
      (await service.owner.query("select from customers where user_code = 'GONE-1'")).rowCount === 1;
    await until(isStored, 10_000);
    await until(async () => spoolFiles().length === 0, 10_000);
    expect(await isStored()).toBe(true);
  });

  const connections = () =>
    new Promise<number>((resolve, reject) =>
      service.app.server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
});
