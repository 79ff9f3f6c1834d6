import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { MULTIPART_TYPE, multipartBody, type FormFields } from '../../../support/service/forms.js';
import { jpeg, jpegSegment, png, pngChunk, svg } from '../../../support/readers/pictures.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { multipart } from '../../../support/fixture/sent.js';
import { makeLogoUploads, pathOfReply } from './logo-uploads.js';

const IEX = DEMO.couriers.IEX;
const MIB = 1024 * 1024;

const fixture = withService();
const { api, service } = fixture;
const { upload, show, stored } = makeLogoUploads(fixture);

describe('valid logo', () => {
  test.each([
    ['png', 'image/png', png()],
    ['jpg', 'image/jpeg', jpeg()],
    ['svg', 'image/svg+xml', svg('<circle cx="5" cy="5" r="2" fill="#fff"/>')],
  ] as const)(
    '%s: its path contains the hash of the served file, and it is public',
    async (extension, type, file) => {
      const reply = await upload(file).answer();
      const shown = await show(pathOfReply(reply));
      expect([shown.status, shown.headers.get('content-type')]).toEqual([200, type]);
      const hash = createHash('sha256').update(shown.bytes).digest('hex');
      expect(pathOfReply(reply)).toBe(`logos/${IEX}/${hash}.${extension}`);
      expect(shown.bytes.toString('latin1')).toBe(Buffer.from(file).toString('latin1'));
      const settings = await api.as('iex').getCourierSettings().ok();
      expect(settings.data.logo_path).toBe(pathOfReply(reply));
    },
  );

  test('is served with headers that prevent execution, allow any origin and cache permanently', async () => {
    const { headers } = await stored(svg());
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'cross-origin',
    });
  });

  test.each([
    ['evil.svg', 'image/svg+xml'],
    ['evil.html', 'text/html'],
    ['../../../etc/passwd', 'application/x-php'],
    ['logo.php\u0001', 'text/plain'],
    ['', 'image/gif'],
    ['x'.repeat(5_000), 'application/octet-stream'],
  ])('is identified by its content, despite the name %s and type %s', async (name, type) => {
    const shown = await stored(png(), name, type);
    expect([shown.headers.get('content-type'), shown.bytes.equals(png())]).toEqual(['image/png', true]);
  });

  test('replaces the previous logo, whose path then responds with 404', async () => {
    const first = pathOfReply(await upload(png(2, 2)).answer());
    const second = pathOfReply(await upload(png(3, 3)).answer());
    expect((await show(first)).status).toBe(404);
    expect((await show(second)).status).toBe(200);
    const { rows } = await service().owner.query(
      'select count(*)::int from courier_logos where courier_id = $1',
      [IEX],
    );
    expect(rows).toEqual([{ count: 1 }]);
    const audit = await service().owner.query(
      `select actor_id, before, after from audit_entries where action = 'courier.logo_replaced' order by id desc limit 1`,
    );
    expect(audit.rows).toEqual([
      { actor_id: DEMO.users.iex, before: { logo_path: first }, after: { logo_path: second } },
    ]);
  });

  test('writes nothing if it is unchanged', async () => {
    const first = await upload(png(4, 4)).answer();
    const before = await fingerprint(service().owner);
    const again = await upload(png(4, 4)).answer();
    expect(pathOfReply(again)).toBe(pathOfReply(first));
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  const UPLOADS = rounds(12, 100);

  test(`of ${UPLOADS} simultaneous uploads is one of those stored, and the audit entries form a chain`, async () => {
    const replies = await Promise.all(
      Array.from({ length: UPLOADS }, (_, n) => untilAdmitted(() => upload(png(20 + n, 2)).answer())),
    );
    const paths = replies.map(pathOfReply);
    const settings = await api.as('iex').getCourierSettings().ok();
    const last = settings.data.logo_path;
    expect(paths.filter((path) => path === last)).toHaveLength(1);
    const { rows } = await service().owner.query<{ before: string; after: string }>(
      `select before->>'logo_path' as before, after->>'logo_path' as after from audit_entries
       where action = 'courier.logo_replaced'`,
    );
    const follows = new Map(rows.map(({ before, after }) => [before, after]));
    const befores = rows.filter(({ after }) => paths.includes(after)).map(({ before }) => before);
    expect(befores).toHaveLength(UPLOADS);
    expect(new Set(befores).size).toBe(UPLOADS);
    expect(befores.map((before) => follows.get(before)).sort()).toEqual([...paths].sort());
  });

  test("is stored for the courier that staff name, and for a courier's user always for its own", async () => {
    const form = { logo: { file: png(5, 5) } };
    const hrb = { query: { id: DEMO.couriers.HRB } };
    const named = await api.as('manager').updateCourierSettings(multipart(form), hrb).ok();
    expect(pathOfReply(named)).toMatch(`logos/${DEMO.couriers.HRB}/`);
    const own = await api.as('iex').updateCourierSettings(multipart(form), hrb).ok();
    expect(pathOfReply(own)).toMatch(`logos/${IEX}/`);
    const unknown = { query: { id: '01930a3e-0000-7000-8000-000000000000' } };
    expect(await api.as('admin').updateCourierSettings(multipart(form), unknown).status()).toBe(404);
    expect(await api.as('admin').updateCourierSettings(multipart(form)).status()).toBe(400);
  });

  test('may have 2 MiB and is rejected with 413 above, with or without a Content-Length', async () => {
    // Decoders skip text chunks, and they are not stored.
    const padding = 2 * MIB - png().length - 12;
    await upload(png(2, 2, [pngChunk('teXt', Buffer.alloc(padding))])).ok();
    const before = await fingerprint(service().owner);
    for (const bytes of [2 * MIB + 1, 3 * MIB]) {
      await upload(Buffer.alloc(bytes, 'x')).refused(413, 'body_too_large');
    }
    const chunked = await sendChunked(multipartBody({ logo: { file: Buffer.alloc(3 * MIB) } }));
    expect(chunked).toBe(413);
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  async function sendChunked(body: Buffer): Promise<number> {
    const headers = {
      'content-type': MULTIPART_TYPE,
      'transfer-encoding': 'chunked',
      authorization: `Bearer ${await service().tokenOf('iex')}`,
    };
    const { sendRaw } = await import('../../../support/service/wire.js');
    const path = '/api/CourierSettingsAPI.php';
    return (await sendRaw(service().url, { method: 'POST', path, headers, body: [body] })).status;
  }
});

describe('metadata and appended data are removed', () => {
  test.each([
    ['after a PNG', Buffer.concat([png(), Buffer.from('<script>alert(1)</script>')])],
    ['after a PNG, a whole zip', Buffer.concat([png(), Buffer.from('504b0304', 'hex'), Buffer.alloc(100)])],
    ['in a PNG’s texts', png(2, 2, [pngChunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>'))])],
    ['in a PNG’s camera data', png(2, 2, [pngChunk('eXIf', Buffer.from('GPS'))])],
    ['in an unknown PNG chunk', png(2, 2, [pngChunk('phPx', Buffer.from('<?php system($_GET[0]) ?>'))])],
  ])('removes data %s', async (_where, file) => {
    expect((await stored(file)).bytes.equals(png())).toBe(true);
  });

  test.each([
    ['after a JPG', Buffer.concat([jpeg(), Buffer.from('<?php system($_GET[0]) ?>')])],
    ['in a JPG’s comment', jpeg(2, 2, [jpegSegment(0xfe, '<script>alert(1)</script>')])],
    ['in a JPG’s camera data', jpeg(2, 2, [jpegSegment(0xe1, 'Exif\0\0GPS')])],
    ['in a JPG’s other application data', jpeg(2, 2, [jpegSegment(0xed, 'Photoshop 3.0\0<html>')])],
  ])('removes data %s', async (_where, file) => {
    expect((await stored(file)).bytes.equals(jpeg())).toBe(true);
  });

  test('keeps a colour profile', async () => {
    const profile = jpeg(2, 2, [jpegSegment(0xe2, 'ICC_PROFILE\0')]);
    expect((await stored(profile)).bytes.equals(profile)).toBe(true);
  });
});

describe('logo path', () => {
  test('responds 404 in the standard envelope if it is unknown', async () => {
    const { rows } = await service().owner.query<{ hash: string }>(
      'select content_hash as hash from courier_logos where courier_id = $1',
      [IEX],
    );
    const hash = rows[0]?.hash ?? '';
    await upload(svg('<circle r="1"/>')).ok();
    const current = pathOfReply(await upload(svg('<circle r="2"/>')).answer());
    const file = current.split('/')[2] ?? '';
    for (const path of [
      `logos/${IEX}/${hash}.svg`,
      `logos/${IEX}/${'0'.repeat(64)}.svg`,
      current.replace('.svg', '.png'),
      `logos/${DEMO.couriers.HRB}/${file}`,
      `logos/01930a3e-0000-7000-8000-000000000000/${file}`,
    ]) {
      expect(await show(path)).toMatchObject({
        status: 404,
        body: { status: 'fail', code: 'logo_not_found' },
      });
    }
  });

  test("responds 404 on another tenant's host", async () => {
    const path = pathOfReply(await upload(png(6, 6)).answer());
    expect((await show(path)).status).toBe(200);
    expect(await show(path, { host: DEMO.hosts.two })).toMatchObject({
      status: 404,
      body: { code: 'logo_not_found' },
    });
  });

  test('rejects other methods with 405', async () => {
    const path = pathOfReply(await upload(png(6, 6)).answer());
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const reply = await service().request(method, `/${path}`);
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, 'GET']);
    }
  });
});

test('ignores form fields and files that the contract does not define', async () => {
  const path = pathOfReply(await upload(png(7, 7)).answer());
  const form = {
    courier_id: DEMO.couriers.HRB,
    api_key: 'f'.repeat(64),
    other: { file: svg(), name: 'other.svg' },
    logo: { file: png(7, 7) },
  };
  const reply = await api.as('iex').updateCourierSettings(multipart(form)).answer();
  expect(pathOfReply(reply)).toBe(path);
});

test.each<[string, FormFields]>([
  ['two logos', { logo: [{ file: png() }, { file: png() }] }],
  ['a NUL in a name', { 'lo\0go': 'x', logo: { file: png() } }],
  ['a field called constructor', { ['constructor']: 'x', logo: { file: png() } }],
  ['a field called __proto__', { ['__proto__']: 'x', logo: { file: png() } }],
  ['a NUL in a text', { other: 'a\0b', logo: { file: png() } }],
  ['a text of 17 KiB', { other: 'x'.repeat(17 * 1024), logo: { file: png() } }],
])('rejects %s in a form with 400', async (_what, form) => {
  const before = await fingerprint(service().owner);
  expect(await api.as('iex').updateCourierSettings(multipart(form)).status()).toBe(400);
  expect(await fingerprint(service().owner)).toEqual(before);
});

test.each<[string, FormFields]>([
  ['30 fields', Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, 'x']))],
  ['5 files', { other: Array.from({ length: 5 }, () => ({ file: 'x' })) }],
])('rejects %s in a form with 413', async (_what, form) => {
  expect(await api.as('iex').updateCourierSettings(multipart(form)).status()).toBe(413);
});
