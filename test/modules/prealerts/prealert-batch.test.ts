import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { longestBlockMs } from '../../support/harness/event-loop-block.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { startService, type Call, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { api, service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

const NDJSON = { 'content-type': 'application/x-ndjson' };
const PATHS = ['submitPrealert', 'submitPrealertWithoutSuffix'] as const;

/** Sends a body of lines. Lines that are not text are sent as JSON. */
function send(
  lines: unknown[] | string | Buffer,
  { headers, ...call }: Call = {},
  path = PATHS[0] as (typeof PATHS)[number],
) {
  const body = Array.isArray(lines)
    ? lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
    : lines;
  return service().call(path, { key: DEMO.apiKeys.IEX, body, headers: { ...NDJSON, ...headers }, ...call });
}

const CUT_LINE =
  'The line is larger than 64 KiB. Shorten it. If you send a file with curl, use --data-binary: with -d, curl removes the line ends.';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Sends a body without Content-Length. Returns the status and the message. */
async function sendChunked(body: Buffer, type: Record<string, string>): Promise<[number, unknown]> {
  const reply = await fetch(`${service().url}/api/Prealert.php`, {
    method: 'POST',
    headers: { ...type, 'x-api-key': DEMO.apiKeys.IEX },
    body: new Blob([body]).stream(),
    duplex: 'half',
  });
  // Every failure has this shape.
  return [reply.status, ((await reply.json()) as { message: string }).message];
}

const prealert = (fields: object = {}) => ({ UserCode: 'IEX-1001', TrackingNumber: newNumber(), ...fields });

type Result = { line: number; status: string; prealert_id?: string; code?: string; errors?: unknown };
const resultsOf = ({ body }: Reply) => body['data'].results as Result[];
const statusesOf = (reply: Reply) => resultsOf(reply).map(({ line, status }) => `${line} ${status}`);

const storedOf = (number: string) =>
  parcels.select(
    `select courier_id, user_code, tracking_number, tracking_key, vendor, description, reference, status
     from prealerts where tracking_number = $1`,
    [number],
  );

describe('lines', () => {
  test('each gets the result of a single call, and a failed line does not affect the others', async () => {
    const announced = prealert();
    await send([announced]);
    const twice = prealert();
    const deep = `{"UserCode":"IEX-1001","TrackingNumber":"D","x":${'['.repeat(40)}${']'.repeat(40)}}`;
    const lines: [line: unknown, status: string][] = [
      [
        prealert({ Vendor: 'Ünïcode', Description: 'one\ntwo', Reference: 'R-1', unknown: { ignored: 1 } }),
        'created',
      ],
      [announced, 'duplicate'],
      [twice, 'created'],
      [{ ...twice, TrackingNumber: ` ${twice.TrackingNumber} ` }, 'duplicate'],
      [prealert({ UserCode: 'HRB-2001' }), 'unknown_customer'],
      [prealert({ UserCode: 'IEX-1200' }), 'unknown_customer'],
      [{ ...announced, UserCode: 'NOBODY' }, 'unknown_customer'],
      [{ TrackingNumber: 'X', UserCode: 7 }, 'invalid'],
      [{}, 'invalid'],
      [prealert({ TrackingNumber: '\u3000' }), 'invalid'],
      [prealert({ Vendor: 'v'.repeat(256) }), 'invalid'],
      [prealert({ action: 'submit' }), 'invalid'],
      ['{"UserCode":', 'invalid'],
      ['"text"', 'invalid'],
      ['null', 'invalid'],
      ['[]', 'invalid'],
      ['{"__proto__":{}}', 'invalid'],
      ['{"UserCode":"a\\u0000"}', 'invalid'],
      [deep, 'invalid'],
      [`[${'0,'.repeat(20_001)}0]`, 'invalid'],
      [prealert({ filler: 'x'.repeat(64 * 1024) }), 'invalid'],
      [prealert(), 'created'],
    ];
    const reply = await send(lines.map(([line]) => line));
    expect(reply.status).toBe(200);
    expect(statusesOf(reply)).toEqual(lines.map(([, status], index) => `${index + 1} ${status}`));
    expect(reply.body['data']).toMatchObject({
      total: 22,
      created: 3,
      duplicate: 2,
      unknown_customer: 3,
      invalid: 14,
    });
    expect(reply.body['message']).toBe(
      'Pre-alerts created: 3. Duplicate: 2, unknown customer: 3, invalid: 14.',
    );
    // A single call with the same line gets the same code, message and errors.
    for (const [index, [line, status]] of lines.entries()) {
      if (status === 'created') continue;
      const single = await api.withKey(DEMO.apiKeys.IEX).submitPrealert(unchecked(line)).answer();
      const { code, message, errors, existing } = single.body;
      // The limit of a body is that of a line, but it is called a body.
      const words = code === 'body_too_large' ? CUT_LINE : message;
      expect(resultsOf(reply)[index]).toEqual({
        line: index + 1,
        status,
        message: words,
        code,
        ...(errors ? { errors } : {}),
        ...(existing ? { existing } : {}),
      });
    }
  });

  test('a byte order mark, CR LF, empty lines and a missing last line break are accepted', async () => {
    const [one, two, three] = [prealert(), prealert(), prealert()].map((each) => JSON.stringify(each));
    const reply = await send(`\ufeff${one}\r\n\r\n \t\n${two}\n${three}`);
    expect(statusesOf(reply)).toEqual(['1 created', '4 created', '5 created']);
    expect(statusesOf(await send(`${one}\n\n\n`))).toEqual(['1 duplicate']);
  });

  test('a line that is not UTF-8 is invalid alone', async () => {
    const body = Buffer.concat([
      Buffer.from('{"UserCode":"IEX-1001","TrackingNumber":"'),
      Buffer.from([0xff]),
      Buffer.from(`"}\n${JSON.stringify(prealert())}\n`),
    ]);
    const reply = await send(body);
    expect(resultsOf(reply)).toMatchObject([
      { status: 'invalid', code: 'invalid_encoding' },
      { status: 'created' },
    ]);
  });

  test('the pre-alert and the audit entry are those of a single call', async () => {
    const fields = { Vendor: 'Shop', Description: 'Shoes ✓ %_\\', Reference: 'order 7' };
    const [single, line] = [prealert(fields), prealert(fields)];
    const alone = await api.withKey(DEMO.apiKeys.IEX).submitPrealert(single).succeeded();
    const [result] = resultsOf(await send([line]));
    const [one] = await storedOf(single.TrackingNumber);
    const number = { tracking_number: line.TrackingNumber, tracking_key: line.TrackingNumber };
    expect(await storedOf(line.TrackingNumber)).toEqual([{ ...one, ...number }]);
    const auditOf = async (id: unknown) =>
      (
        await parcels.select(
          'select action, actor_kind, actor_id, entity, before, after, remarks from audit_entries where entity_id = $1',
          [id],
        )
      ).map((entry) => ({ ...entry, after: { ...(entry['after'] as object), id: '', tracking_number: '' } }));
    const entries = await auditOf(alone.data.prealert_id);
    expect(entries).toHaveLength(1);
    expect(await auditOf(result?.prealert_id)).toEqual(entries);
  });

  test('the first status follows from the packages and flags of the number', async () => {
    const [received, foreign, flagged] = [newNumber(), newNumber(), newNumber()];
    await parcels.receive(received, { user_code: 'IEX-1001' });
    await parcels.receive(foreign, { user_code: 'HRB-2001' });
    const contested = await parcels.announce('IEX', flagged);
    await parcels.announce('HRB', flagged);
    await parcels.receive(flagged);
    await api.as('iex').deletePrealert({ prealert_id: contested }).ok();
    await send([received, foreign, flagged].map((TrackingNumber) => prealert({ TrackingNumber })));
    const statuses = [];
    for (const number of [received, foreign, flagged]) {
      const rows = await parcels.select(
        'select status from prealerts where tracking_number = $1 and courier_id = $2',
        [number, DEMO.couriers.IEX],
      );
      statuses.push(rows.map(({ status }) => status).join());
    }
    expect(statuses).toEqual(['received', 'pending', 'flagged']);
  });

  test("a number of a sibling courier is free, and the sibling's customers are unknown customers", async () => {
    const number = newNumber();
    const key = DEMO.apiKeys.HRB;
    await parcels.announce('IEX', number);
    const reply = await send(
      [
        { UserCode: 'HRB-2001', TrackingNumber: number },
        { UserCode: 'IEX-1001', TrackingNumber: newNumber() },
        { UserCode: 'NOBODY', TrackingNumber: newNumber() },
      ],
      { key },
    );
    const [created, sibling, nobody] = resultsOf(reply);
    expect(created?.status).toBe('created');
    expect({ ...sibling, line: 0 }).toEqual({ ...nobody, line: 0 });
  });
});

describe('a batch as a whole', () => {
  test.each(PATHS)('%s refuses more than 1,000 lines and 4 MiB, and stores nothing', async (path) => {
    const before = await fingerprint(service().owner);
    const many = await send('\n'.repeat(1_001), {}, path);
    expect(many).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'body', code: 'maxItems' }] },
    });
    expect(many.body['message']).toBe('body must have at most 1000 lines. Split it.');
    const large = Buffer.alloc(4 * 1024 * 1024 + 1, 0x20);
    const words = 'The lines together are larger than 4 MiB. Send fewer lines at once.';
    const known = await send(large, {}, path);
    expect([known.status, known.body['message']]).toEqual([413, words]);
    expect(await sendChunked(large, NDJSON)).toEqual([413, words]);
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('needs at least one line', async () => {
    for (const body of ['', '\n', ' \r\n\t\n', '\ufeff'])
      expect(await send(body)).toMatchObject({ status: 400, body: { code: 'body_required' } });
  });

  test('needs a valid key, also if no line is valid', async () => {
    for (const lines of [[prealert()], ['{']]) {
      expect(await send(lines, { key: 'wrong' })).toMatchObject({
        status: 403,
        body: { code: 'key_invalid' },
      });
      expect(await send(lines, { key: DEMO.apiKeys.TWO })).toMatchObject({ status: 403 });
      const { key: _, ...anonymous } = { key: '' };
      expect(await send(lines, { ...anonymous, key: '' })).toMatchObject({ status: 401 });
    }
    expect(statusesOf(await send(['{']))).toEqual(['1 invalid']);
  });

  test('is accepted in no other operation, and not compressed', async () => {
    expect(await api.as('iex').createPrealert(unchecked('{}'), { headers: NDJSON }).answer()).toMatchObject({
      status: 415,
    });
    expect(await send([prealert()], { headers: { 'content-encoding': 'gzip' } })).toMatchObject({
      status: 415,
    });
  });

  test('a JSON body keeps its own limit', async () => {
    const body = JSON.stringify(prealert({ filler: 'x'.repeat(70_000) }));
    const words =
      'The body is larger than 64 KiB. Send less at once, or one object per line with the media type application/x-ndjson.';
    const known = await api.withKey(DEMO.apiKeys.IEX).submitPrealert(unchecked(body)).answer();
    expect([known.status, known.message]).toEqual([413, words]);
    expect(await sendChunked(Buffer.from(body), JSON_TYPE)).toEqual([413, words]);
  });
});

describe('atomic', () => {
  const atomic = { query: { atomic: true } };

  test.each(PATHS)('%s stores all lines or none, and names the failed lines', async (path) => {
    const [announced, good] = [prealert(), prealert()];
    await send([announced], atomic, path);
    const before = await fingerprint(service().owner);
    const mixed = await send([good, announced, prealert({ UserCode: 'HRB-2001' }), '{', {}], atomic, path);
    expect(mixed).toMatchObject({
      status: 400,
      body: {
        code: 'validation_failed',
        message: 'Nothing was stored. Correct the lines named in errors. There are 4.',
        errors: [
          { row: 2, field: 'TrackingNumber', code: 'duplicate' },
          { row: 3, field: 'UserCode', code: 'unknown' },
          { row: 4, field: 'body', code: 'malformed_json' },
          { row: 5, field: 'UserCode', code: 'required' },
          { row: 5, field: 'TrackingNumber', code: 'required' },
        ],
      },
    });
    const again = await send([good, announced, good], atomic, path);
    expect(again).toMatchObject({
      status: 409,
      body: {
        code: 'duplicate_tracking_number',
        errors: [{ row: 2, field: 'TrackingNumber' }, { row: 3 }],
      },
    });
    expect(again.body['message']).toContain('There are 2.');
    expect(await send(['{'], atomic, path)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    });
    expect(await fingerprint(service().owner)).toEqual(before);
    expect(statusesOf(await send([good, prealert()], atomic, path))).toEqual(['1 created', '2 created']);
  });

  test('has no effect on a single pre-alert', async () => {
    const call = { key: DEMO.apiKeys.IEX, body: prealert(), ...atomic };
    expect(await api.with(call).submitPrealert().status()).toBe(201);
    expect(await send([prealert()], { query: { atomic: 'maybe' } })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'atomic' }] },
    });
  });
});

describe('with an Idempotency-Key', () => {
  const withKey = (key: string): Call => ({ headers: { 'idempotency-key': key } });

  test('the same bytes get the first response again, and other bytes or another query 409', async () => {
    const lines = [prealert(), prealert({ UserCode: 'NOBODY' }), '{'];
    const first = await send(lines, withKey('batch-1'));
    const again = await send(lines, withKey('batch-1'));
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(again.bytes).toEqual(first.bytes);
    const others = [
      await send([...lines, ''], withKey('batch-1')),
      await send(lines, { ...withKey('batch-1'), query: { atomic: true } }),
    ];
    for (const other of others)
      expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
  });

  test('a refused atomic batch is executed again, because it had no effect', async () => {
    const call = { ...withKey('batch-2'), query: { atomic: true } };
    const wrong = [prealert(), prealert({ UserCode: 'NOBODY' })];
    const refused = [await send(wrong, call), await send(wrong, call)];
    expect(refused.map(({ status, headers }) => [status, headers.get('idempotency-replayed')])).toEqual([
      [400, null],
      [400, null],
    ]);
    const corrected = await send([prealert(), prealert()], call);
    expect([corrected.status, corrected.headers.get('idempotency-replayed')]).toEqual([200, null]);
  });
});

test('an event loop with 1,000 long, invalid or hostile lines is not blocked for 50 ms', async () => {
  const text = 'é'.repeat(2_000);
  const bodies = [
    Array.from({ length: 1_000 }, () => prealert({ Description: text })),
    Array.from({ length: 1_000 }, () => ({
      UserCode: 1,
      TrackingNumber: 2,
      Vendor: 3,
      Description: 4,
      Reference: 5,
    })),
    Array.from({ length: 100 }, () => `[${'0,'.repeat(19_000)}0]`),
    Array.from({ length: 60 }, () => prealert({ Vendor: ' '.repeat(65_000) })),
    Array.from({ length: 1_000 }, () => ' '.repeat(4_000)),
  ].map((lines) =>
    Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')),
  );
  const blocks: number[] = [];
  for (const body of bodies) blocks.push(await longestBlockMs(() => send(body)));
  expect(Math.max(...blocks)).toBeLessThan(50);
}, 30_000);

test('with a rate limit, every 10 lines count as one request, and a batch passes while one is left', async () => {
  const limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '6' } });
  const key = DEMO.apiKeys.IEX;
  const batch = (count: number) =>
    limited.call('submitPrealert', {
      key,
      body: Array.from({ length: count }, () => JSON.stringify(prealert())).join('\n'),
      headers: NDJSON,
    });
  const single = () => limited.call('submitPrealert', { key, body: prealert() });
  expect((await batch(31)).status).toBe(200);
  expect((await single()).status).toBe(201);
  expect((await batch(100)).status).toBe(200);
  expect((await single()).status).toBe(429);
  await limited.stop();
}, 30_000);
