import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';
import { makeBatchCalls, NDJSON, PATHS, prealert, shown, toLines } from './batch-calls.js';

const { api, db, service } = withService();
const { announce, receive } = makeScanCalls(api);
const { resultsOf, send } = makeBatchCalls(api);

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

describe('lines', () => {
  test('each gets the result of a single call, and a failed line does not affect the others', async () => {
    const announced = prealert();
    await send([announced]).ok();
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
    const { data, message } = await send(lines.map(([line]) => line)).ok();
    expect(shown(data.results)).toEqual(lines.map(([, status], index) => `${index + 1} ${status}`));
    expect(data).toMatchObject({
      total: 22,
      created: 3,
      duplicate: 2,
      unknown_customer: 3,
      invalid: 14,
    });
    expect(message).toBe('Pre-alerts created: 3. Duplicate: 2, unknown customer: 3, invalid: 14.');
    // A single call with the same line gets the same code, message and errors.
    for (const [index, [line, status]] of lines.entries()) {
      if (status === 'created') continue;
      const single = await api.withKey(DEMO.apiKeys.IEX).submitPrealert(unchecked(line)).answer();
      const { code, message: words, errors, existing } = single.body;
      expect(data.results[index]).toEqual({
        line: index + 1,
        status,
        // The limit of a body is that of a line, but it is called a body.
        message: code === 'body_too_large' ? CUT_LINE : words,
        code,
        ...(errors ? { errors } : {}),
        ...(existing ? { existing } : {}),
      });
    }
  });

  test('a byte order mark, CR LF, empty lines and a missing last line break are accepted', async () => {
    const [one, two, three] = [prealert(), prealert(), prealert()].map((each) => JSON.stringify(each));
    const results = await resultsOf(`\ufeff${one}\r\n\r\n \t\n${two}\n${three}`);
    expect(shown(results)).toEqual(['1 created', '4 created', '5 created']);
    expect(shown(await resultsOf(`${one}\n\n\n`))).toEqual(['1 duplicate']);
  });

  test('a batch of 1,000 lines makes Node warn of nothing', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on('warning', note);
    expect(await resultsOf(Array.from({ length: 1_000 }, () => prealert()))).toHaveLength(1_000);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('a line that is not UTF-8 is invalid alone', async () => {
    const body = Buffer.concat([
      Buffer.from('{"UserCode":"IEX-1001","TrackingNumber":"'),
      Buffer.from([0xff]),
      Buffer.from(`"}\n${JSON.stringify(prealert())}\n`),
    ]);
    expect(await resultsOf(body)).toMatchObject([
      { status: 'invalid', code: 'invalid_encoding' },
      { status: 'created' },
    ]);
  });

  test('the pre-alert and the audit entry are those of a single call', async () => {
    const fields = { Vendor: 'Shop', Description: 'Shoes ✓ %_\\', Reference: 'order 7' };
    const [single, line] = [prealert(fields), prealert(fields)];
    const alone = await api.withKey(DEMO.apiKeys.IEX).submitPrealert(single).created();
    const [result] = await resultsOf([line]);
    const storedOf = (number: string) =>
      db.query(
        `select courier_id, user_code, tracking_number, tracking_key, vendor, description, reference, status
         from prealerts where tracking_number = $1`,
        [number],
      );
    const [one] = await storedOf(single.TrackingNumber);
    const number = { tracking_number: line.TrackingNumber, tracking_key: line.TrackingNumber };
    expect(await storedOf(line.TrackingNumber)).toEqual([{ ...one, ...number }]);
    const auditOf = (id: string | undefined) =>
      db.query(
        `select action, actor_kind, actor_id, entity, before, remarks,
           after - array['id', 'tracking_number'] as after
         from audit_entries where entity_id = $1`,
        [id],
      );
    const entries = await auditOf(alone.data.prealert_id);
    expect(entries).toHaveLength(1);
    expect(await auditOf(result?.prealert_id)).toEqual(entries);
  });

  test('the first status follows from the packages and flags of the number', async () => {
    const [received, foreign, flagged] = [newNumber(), newNumber(), newNumber()];
    await receive(received, { user_code: 'IEX-1001' }).created();
    await receive(foreign, { user_code: 'HRB-2001' }).created();
    const contested = await announce(flagged);
    await announce(flagged, 'HRB-2001');
    await receive(flagged).created();
    await api.as('iex').deletePrealert({ prealert_id: contested }).ok();
    await send([received, foreign, flagged].map((TrackingNumber) => prealert({ TrackingNumber }))).ok();
    const statusOf = async (tracking_number: string) =>
      (await db.one('prealerts', { tracking_number, courier_id: DEMO.couriers.IEX })).status;
    expect(await statusOf(received)).toBe('received');
    expect(await statusOf(foreign)).toBe('pending');
    expect(await statusOf(flagged)).toBe('flagged');
  });

  test("a number of a sibling courier is free, and the sibling's customers are unknown customers", async () => {
    const number = newNumber();
    const key = DEMO.apiKeys.HRB;
    await announce(number);
    const [created, sibling, nobody] = await resultsOf(
      [
        { UserCode: 'HRB-2001', TrackingNumber: number },
        { UserCode: 'IEX-1001', TrackingNumber: newNumber() },
        { UserCode: 'NOBODY', TrackingNumber: newNumber() },
      ],
      { key },
    );
    expect(created?.status).toBe('created');
    expect({ ...sibling, line: 0 }).toEqual({ ...nobody, line: 0 });
  });
});

describe('a batch as a whole', () => {
  test.each(PATHS)('%s refuses more than 1,000 lines and 4 MiB, and stores nothing', async (path) => {
    const before = await db.fingerprint();
    const many = await send('\n'.repeat(1_001), {}, path).refused(400, 'validation_failed');
    expect(many.errors).toMatchObject([{ field: 'body', code: 'maxItems' }]);
    expect(many.message).toBe('body must have at most 1000 lines. Split it.');
    const large = Buffer.alloc(4 * 1024 * 1024 + 1, 0x20);
    const words = 'The lines together are larger than 4 MiB. Send fewer lines at once.';
    const known = await send(large, {}, path).refused(413, 'body_too_large');
    expect(known.message).toBe(words);
    expect(await sendChunked(large, NDJSON)).toEqual([413, words]);
    expect(await db.fingerprint()).toEqual(before);
  });

  test('needs at least one line', async () => {
    for (const body of ['', '\n', ' \r\n\t\n', '\ufeff']) await send(body).refused(400, 'body_required');
  });

  test('needs a valid key, also if no line is valid', async () => {
    for (const lines of [[prealert()], ['{']]) {
      await send(lines, { key: 'wrong' }).refused(403, 'key_invalid');
      await send(lines, { key: DEMO.apiKeys.TWO }).refused(403, 'key_invalid');
      await send(lines, { key: '' }).refused(401, 'key_missing');
    }
    expect(shown(await resultsOf(['{']))).toEqual(['1 invalid']);
  });

  test('is accepted in no other operation, and not compressed', async () => {
    await api
      .as('iex')
      .createPrealert(unchecked('{}'), { headers: NDJSON })
      .refused(415, 'unsupported_media_type');
    await send([prealert()], { headers: { 'content-encoding': 'gzip' } }).refused(
      415,
      'unsupported_media_type',
    );
  });

  test('a JSON body keeps its own limit', async () => {
    const body = JSON.stringify(prealert({ filler: 'x'.repeat(70_000) }));
    const words =
      'The body is larger than 64 KiB. Send less at once, or one object per line with the media type application/x-ndjson.';
    const known = await api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert(unchecked(body))
      .refused(413, 'body_too_large');
    expect(known.message).toBe(words);
    expect(await sendChunked(Buffer.from(body), JSON_TYPE)).toEqual([413, words]);
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
  ].map((lines) => Buffer.from(toLines(lines)));
  const blocks: number[] = [];
  for (const body of bodies) blocks.push(await longestBlockMs(() => send(body).answer()));
  expect(Math.max(...blocks)).toBeLessThan(50);
}, 30_000);

describe('with a rate limit', () => {
  const limited = withService({ env: { RATE_LIMIT_PER_MINUTE: '6' } }).api.withKey(DEMO.apiKeys.IEX);

  test('every 10 lines count as one request, and a batch passes while one is left', async () => {
    const batch = (count: number) => {
      const lines = toLines(Array.from({ length: count }, () => prealert()));
      return limited.submitPrealert(unchecked(lines), { headers: NDJSON });
    };
    await batch(31).ok();
    await limited.submitPrealert(prealert()).created();
    await batch(100).ok();
    await limited.submitPrealert(prealert()).refused(429, 'rate_limited');
  });
});
