import { describe, expect, test } from '@jest/globals';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { startService, type Call } from '../../../support/service/service.js';
import { makeApi } from '../../../support/fixture/api.js';
import { withService } from '../../../support/fixture/with-service.js';
import { fieldsOf, makeSettingsCalls, WHOLE } from './settings-calls.js';

const fixture = withService();
const { service } = fixture;
const { read, update, updateIex } = makeSettingsCalls(fixture);

describe('validation of settings', () => {
  const CONTROLS = [
    '\r',
    '\n',
    '\r\n',
    '\t',
    '\v',
    '\f',
    '\b',
    '\u0001',
    '\u001b',
    '\u007f',
    '\u0085',
    '\u009f',
  ];
  const TOKENS = [
    ...CONTROLS.map((control) => `tok${control}en`),
    ...CONTROLS.map((control) => `token${control}`),
    'token\r\nX-Evil: 1',
    'to ken',
    ' token',
    'token ',
    'tök',
    'tok\u2028en',
    'tok\u2029en',
    'tok\u00a0en',
    '\u200btoken',
    'токен',
    '😀',
    '\r\n',
    '\n',
  ];

  test(`rejects ${TOKENS.length} values of api_token that would break a header`, async () => {
    expect(TOKENS.length).toBeGreaterThanOrEqual(30);
    const before = await fingerprint(service().owner);
    for (const token of TOKENS) {
      const reply = await updateIex({ api_token: token }).answer();
      expect([token, reply.status, fieldsOf(reply)]).toEqual([token, 400, ['api_token']]);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test.each(Object.keys(WHOLE))(
    'rejects control characters in %s, which could inject mail headers',
    async (field) => {
      for (const text of ['a\r\nBcc: x@y.example', 'a\nb', 'a\u0000b', 'a\u0085b', 'a\u2028b']) {
        const reply = await updateIex({ [field]: text }).answer();
        expect([text, reply.status, [...new Set(fieldsOf(reply))]]).toEqual([text, 400, [field]]);
      }
    },
  );

  test('rejects invalid email addresses', async () => {
    const bad = [
      'x',
      '@',
      'a@',
      '@b.example',
      'a@b',
      'a b@c.example',
      'a@b..example',
      'a@-b.example',
      'a@b.example,',
    ];
    for (const email of [
      ...bad,
      'a@b.example c@d.example',
      'Bob <a@b.example>',
      'a@[127.0.0.1]',
      'ä@b.example',
    ]) {
      const reply = await updateIex({ email }).answer();
      expect([email, reply.status, fieldsOf(reply)]).toEqual([email, 400, ['email']]);
    }
  });

  test('accepts only #RRGGBB as a colour', async () => {
    for (const house_color of [
      'red',
      '#fff',
      '#GGGGGG',
      '0A7D5C',
      '#0A7D5',
      ' #0A7D5',
      '#0A7D5 ',
      '#٠٠٠٠٠٠',
    ]) {
      const reply = await updateIex({ house_color }).answer();
      expect([house_color, reply.status, fieldsOf(reply)]).toEqual([house_color, 400, ['house_color']]);
    }
  });

  test.each(['api_url_get_customers', 'api_url_add_package', 'api_url_update_package'])(
    'accepts only public https URLs in %s',
    async (field) => {
      // outbound-urls.test.ts has the full table.
      for (const url of [
        'http://example.com/',
        'https://127.0.0.1/',
        'https://2130706433/',
        'https://u:p@example.com/',
      ]) {
        const reply = await updateIex({ [field]: url }).answer();
        expect([url, reply.status, fieldsOf(reply)]).toEqual([url, 400, [field]]);
      }
    },
  );

  test('reports all invalid fields at once and stores nothing', async () => {
    const before = await fingerprint(service().owner);
    const reply = await updateIex({
      email: 'x',
      api_url_add_package: 'http://x',
      api_token: 'a b',
      address2: 'would change',
    }).answer();
    expect(fieldsOf(reply).sort()).toEqual(['api_token', 'api_url_add_package', 'email']);
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('accepts values of maximum length and rejects longer ones', async () => {
    const bounds = { courier_name: 200, phone_number1: 50, city_town: 100, api_token: 4096 };
    for (const [field, limit] of Object.entries(bounds)) {
      await update({ as: 'hrb', body: { [field]: 'x'.repeat(limit) } }).ok();
      const reply = await update({ as: 'hrb', body: { [field]: 'x'.repeat(limit + 1) } }).answer();
      expect([field, reply.status, fieldsOf(reply)]).toEqual([field, 400, [field]]);
    }
    const url = 'https://example.com/'.padEnd(2000, 'x');
    await update({ as: 'hrb', body: { api_url_add_package: url } }).ok();
    expect(await update({ as: 'hrb', body: { api_url_add_package: `${url}x` } }).status()).toBe(400);
  });
});

describe('form actions', () => {
  test('rejects unknown, missing and conflicting actions and stores nothing', async () => {
    const before = await fingerprint(service().owner);
    const calls: [Call, string][] = [
      [{ urlencoded: { action: 'nonsense' } }, 'action'],
      [{ urlencoded: { other: 'x' } }, 'action'],
      [{ urlencoded: { action: 'regenerate_key ' } }, 'action'],
      [{ form: { action: 'REGENERATE_KEY' } }, 'action'],
      [{ form: { other: 'x' } }, 'logo'],
      [{ form: {} }, 'logo'],
      [{ form: { logo: 'text, not a file' } }, 'logo'],
      [{ form: { action: ['regenerate_key', 'regenerate_key'] } }, 'action'],
      [{ form: { action: 'regenerate_key', logo: { file: 'x' } } }, 'action'],
    ];
    for (const [call, field] of calls) {
      const reply = await update({ as: 'iex', ...call }).answer();
      expect([call, reply.status, fieldsOf(reply)]).toEqual([call, 400, [field]]);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('parses urlencoded forms strictly', async () => {
    const before = await fingerprint(service().owner);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const bodies: [string | Buffer, number, string][] = [
      ['action=regenerate_key&action=regenerate_key', 400, 'validation_failed'],
      ['action=regenerate_key%', 400, 'invalid_encoding'],
      ['action=%ff', 400, 'invalid_encoding'],
      ['action=regenerate_key&x=%00', 400, 'invalid_encoding'],
      ['action=regenerate_key&x=%ed%a0%80', 400, 'invalid_encoding'],
      [Buffer.from('action=regenerate_key&x=\u00e9'), 400, 'invalid_encoding'],
      ['action[]=regenerate_key', 400, 'validation_failed'],
      ['action=regenerate_key+', 400, 'validation_failed'],
      ['{"action":"regenerate_key"}', 400, 'validation_failed'],
      ['', 400, 'body_required'],
      [`x=${'x'.repeat(1024 * 1024)}`, 413, 'body_too_large'],
    ];
    for (const [body, status, code] of bodies) {
      const reply = await update({ as: 'iex', body, headers }).answer();
      expect([String(body).slice(0, 60), reply.status, reply.code]).toEqual([
        String(body).slice(0, 60),
        status,
        code,
      ]);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test.each([
    'text/plain',
    'application/xml',
    'multipart/mixed; boundary=x',
    'application/x-www-form-urlencoded; charset=utf-16',
    'multipart/form-data-x; boundary=x',
    'application/json5',
    'image/png',
  ])('rejects a body of %s with 415 and names the supported media types', async (type) => {
    const reply = await update({
      as: 'iex',
      body: 'action=regenerate_key',
      headers: { 'content-type': type },
    }).refused(415, 'unsupported_media_type');
    for (const taken of ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      expect(reply.message).toContain(taken);
  });

  test('treats __proto__ in a form as an unknown field', async () => {
    await update({
      as: 'hrb',
      urlencoded: { ['__proto__']: 'x', constructor: 'y', action: 'regenerate_key' },
    }).ok();
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('accepts regenerate_key as JSON too', async () => {
    const reply = await updateIex({ action: 'regenerate_key' }).ok();
    expect((await read({ as: 'iex' }).ok()).data.api_key).toBe(reply.data.api_key);
  });
});

test('with loopback allowed, http and the local host are accepted, but private networks are not', async () => {
  const development = await startService({ env: { OUTBOUND_ALLOW_LOOPBACK: 'true' } });
  try {
    const iex = makeApi(() => development).as('iex');
    for (const api_url_add_package of ['http://127.0.0.1:9000/hook', 'http://localhost:9000/hook'])
      await iex.updateCourierSettings({ api_url_add_package }).ok();
    for (const api_url_add_package of ['https://10.0.0.1/', 'https://169.254.169.254/'])
      expect(await iex.updateCourierSettings({ api_url_add_package }).status()).toBe(400);
  } finally {
    await development.stop();
  }
});
