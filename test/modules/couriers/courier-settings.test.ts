import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { startService, untilAdmitted, type Call, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const IEX = DEMO.couriers.IEX;

const { api, service } = withService();

const read = (call: Call) => api.with(call).getCourierSettings();
const update = (call: Call) => api.with(call).updateCourierSettings();
const updateIex = (body: unknown) => update({ as: 'iex', body });

async function rowOf(courierId: string): Promise<Record<string, unknown>> {
  const { rows } = await service().owner.query('select * from couriers where id = $1', [courierId]);
  return rows[0] ?? {};
}

type Entry = { action: string; actor_id: string; before: unknown; after: unknown; request_id: string };

async function auditOf(courierId: string): Promise<Entry[]> {
  const { rows } = await service().owner.query<Entry>(
    `select action, actor_id, before, after, request_id from audit_entries
     where entity = 'courier' and entity_id = $1 order by id`,
    [courierId],
  );
  return rows;
}

const fieldsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as { field: string }[]).map(({ field }) => field);

/** The state of a webhook URL that is not set. */
const UNTRIED = {
  state: 'none',
  failing_since: null,
  paused_at: null,
  last_success_at: null,
  last_failure_at: null,
  failures: 0,
};

describe('reading settings', () => {
  test('a courier reads its whole profile with its secrets', async () => {
    const reply = await read({ as: 'iex' }).ok();
    expect(reply.data).toEqual({
      courier_id: IEX,
      courier_code: 'IEX',
      courier_name: 'Island Express',
      company_name: 'Island Express Limited',
      email: 'accounts@island-express.example',
      phone_number1: '+1 876 555 0142',
      phone_number2: '+1 876 555 0143',
      address1: '12 Harbour Street',
      address2: null,
      city_town: 'Kingston',
      parish_province: 'Kingston',
      api_key: DEMO.apiKeys.IEX,
      api_url_get_customers: null,
      api_url_add_package: null,
      api_url_update_package: null,
      add_package_format: 'event',
      update_package_format: 'event',
      api_token: null,
      webhook_secret: null,
      webhook_secret_rotated_at: null,
      webhook_previous_secret_id: null,
      webhooks: { add_package: UNTRIED, update_package: UNTRIED },
      house_color: '#0A7D5C',
      logo_path: expect.stringMatching(new RegExp(`^logos/${IEX}/[0-9a-f]{64}\\.svg$`)),
      air_freight_rate: 1.75,
    });
  });

  test('a courier reads its own profile, whatever id it sends', async () => {
    for (const id of [DEMO.couriers.HRB, DEMO.couriers.TWO, '01930a3e-0000-7000-8000-000000000000']) {
      expect((await read({ as: 'iex', query: { id } }).ok()).data.courier_code).toBe('IEX');
    }
  });

  test.each(['admin', 'manager'])('%s may read any courier and must name it', async (as) => {
    for (const [code, id] of [['IEX', IEX] as const, ['HRB', DEMO.couriers.HRB] as const]) {
      expect((await read({ as, query: { id } }).ok()).data).toMatchObject({
        courier_id: id,
        courier_code: code,
        api_key: DEMO.apiKeys[code],
      });
    }
    const unnamed = await read({ as }).refused(400, 'validation_failed');
    expect(fieldsOf(unnamed)).toEqual(['id']);
  });

  test('responds 404 to staff for unknown and foreign couriers', async () => {
    for (const id of ['01930a3e-0000-7000-8000-000000000000', DEMO.couriers.TWO]) {
      for (const call of [read, (each: Call) => update({ ...each, body: {} })]) {
        await call({ as: 'admin', query: { id } }).refused(404, 'courier_not_found');
      }
    }
  });

  test('warehouse staff may neither read nor change settings', async () => {
    const calls = [
      read({ as: 'warehouse', query: { id: IEX } }),
      update({ as: 'warehouse', query: { id: IEX }, body: {} }),
      update({ as: 'warehouse', query: { id: IEX }, urlencoded: { action: 'regenerate_key' } }),
      update({ as: 'warehouse', query: { id: IEX }, form: { logo: { file: 'x' } } }),
    ];
    for (const call of calls) await call.refused(403, 'permission_denied');
  });

  test('an API key gives no access to settings', async () => {
    expect(await read({ key: DEMO.apiKeys.IEX }).status()).toBe(401);
    expect(await update({ key: DEMO.apiKeys.IEX, body: {} }).status()).toBe(401);
  });
});

const WHOLE = {
  courier_name: 'Harbour & Co',
  company_name: 'Harbour and Company Ltd',
  email: "o'neil+desk@mail.harbour-couriers.example",
  phone_number1: '+1 246 555 0000',
  phone_number2: '+1 246 555 0001',
  address1: '1 Pier Head',
  address2: 'Étage 2',
  city_town: 'Bridgetown',
  parish_province: 'Saint Michael',
  api_url_get_customers: 'https://api.harbour-couriers.example/customers?format=json',
  api_url_add_package: 'https://api.harbour-couriers.example:8443/packages',
  api_url_update_package: 'https://8.8.8.8/packages',
  api_token: 'tok-EN_1.2~3+4/5==',
  house_color: '#a1B2c3',
};

describe('updating the profile', () => {
  test('stores every field as sent and returns the profile', async () => {
    const reply = await update({ as: 'hrb', body: WHOLE }).ok();
    expect(reply).toMatchObject({ status: 200, body: { message: 'Settings saved.', data: WHOLE } });
    const again = await read({ as: 'hrb' }).ok();
    expect(again.data).toEqual(reply.data);
    expect(again.data).toMatchObject({ api_key: DEMO.apiKeys.HRB, courier_code: 'HRB' });
  });

  test.each(Object.entries(WHOLE))('changes %s without changing other fields', async (field, value) => {
    await update({ as: 'hrb', body: WHOLE }).ok();
    const before = (await read({ as: 'hrb' }).ok()).data;
    const other = field === 'house_color' ? '#000000' : field === 'email' ? 'a@b.example' : `${value}x`;
    const reply = await update({ as: 'hrb', body: { [field]: other } }).ok();
    expect(reply.data).toEqual({ ...before, [field]: other });
    expect((await read({ as: 'hrb' }).ok()).data).toEqual({ ...before, [field]: other });
  });

  test('blank text clears every field except the name', async () => {
    const names = Object.keys(WHOLE).filter((name) => name !== 'courier_name');
    for (const blank of ['', '  ']) {
      await update({ as: 'hrb', body: WHOLE }).ok();
      const reply = await update({
        as: 'hrb',
        body: Object.fromEntries(names.map((name) => [name, blank])),
      }).ok();
      expect(reply.data).toMatchObject(Object.fromEntries(names.map((name) => [name, null])));
      const nameless = await update({ as: 'hrb', body: { courier_name: blank } }).answer();
      expect([nameless.status, fieldsOf(nameless)]).toEqual([400, ['courier_name']]);
    }
    expect(await rowOf(DEMO.couriers.HRB)).toMatchObject({ api_token_cipher: null, email: null });
  });

  test('staff change the named courier, and a courier always changes itself', async () => {
    const named = await update({
      as: 'manager',
      query: { id: IEX },
      body: { address2: 'by the manager' },
    }).ok();
    expect(named.data).toMatchObject({ courier_id: IEX, address2: 'by the manager' });
    const own = await update({
      as: 'iex',
      query: { id: DEMO.couriers.HRB },
      body: { address2: 'its own' },
    }).ok();
    expect(own.data).toMatchObject({ courier_id: IEX, address2: 'its own' });
    expect((await rowOf(DEMO.couriers.HRB))['address2']).not.toBe('its own');
    const unnamed = await update({ as: 'admin', body: { address2: 'x' } }).answer();
    expect([unnamed.status, fieldsOf(unnamed)]).toEqual([400, ['id']]);
  });

  test('writes nothing if the values are equal or missing', async () => {
    await update({ as: 'hrb', body: WHOLE }).ok();
    const before = await fingerprint(service().owner);
    for (const body of [WHOLE, {}, { api_token: WHOLE.api_token }, { unknown: 1 }]) {
      const reply = await update({ as: 'hrb', body }).answer();
      expect(reply).toMatchObject({
        status: 200,
        body: { message: 'The settings already have these values. Nothing was changed.', data: WHOLE },
      });
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('ignores fields that the caller may not set', async () => {
    const before = await rowOf(IEX);
    const privileged = {
      courier_id: DEMO.couriers.HRB,
      id: DEMO.couriers.HRB,
      tenant_id: DEMO.tenants.two,
      code: 'XXX',
      courier_code: 'XXX',
      name: 'Hacked',
      is_active: false,
      api_key: 'f'.repeat(64),
      api_key_hash: 'f'.repeat(64),
      api_key_cipher: 'v1.x',
      api_token_cipher: 'v1.x',
      air_freight_rate: 0,
      logo_path: 'logos/x',
      created_at: '2000-01-01 00:00:00',
      updated_at: '2000-01-01 00:00:00',
    };
    await updateIex({ ...privileged, address2: 'Suite 9' }).ok();
    const { updated_at: _, ...rest } = await rowOf(IEX);
    const { updated_at: __, ...expected }: Record<string, unknown> = { ...before, address2: 'Suite 9' };
    expect(rest).toEqual(expected);
  });

  test('concurrent updates of different fields lose nothing', async () => {
    const fields = ['phone_number1', 'phone_number2', 'address1', 'address2', 'city_town', 'company_name'];
    await Promise.all(fields.map((field) => updateIex({ [field]: `at once ${field}` }).answer()));
    const { data } = await read({ as: 'iex' }).answer();
    expect(data).toMatchObject(Object.fromEntries(fields.map((field) => [field, `at once ${field}`])));
  });

  const UPDATES = rounds(50, 200);

  test(`the audit entries of ${UPDATES} concurrent updates form an unbroken chain`, async () => {
    await updateIex({ address1: 'start' }).ok();
    const start = (await auditOf(IEX)).length;
    const replies = await Promise.all(
      Array.from({ length: UPDATES }, (_, n) =>
        untilAdmitted(() => updateIex({ address1: `at once ${n}` }).answer()),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(UPDATES);
    // The update of an address is audited with these fields.
    const entries = (await auditOf(IEX)).slice(start) as {
      before: { address1: string };
      after: { address1: string };
    }[];
    expect(entries).toHaveLength(UPDATES);
    const next = new Map(entries.map(({ before, after }) => [before.address1, after.address1]));
    let [at, steps] = ['start', 0];
    for (let after = next.get(at); after !== undefined; after = next.get(at))
      [at, steps] = [after, steps + 1];
    expect([steps, at]).toEqual([UPDATES, (await rowOf(IEX))['address1']]);
  });

  test('stores tokens encrypted with the newest key and bound to their row', async () => {
    await updateIex({ api_token: 'secret-of-iex' }).ok();
    const { api_token_cipher: cipher } = await rowOf(IEX);
    expect(cipher).toMatch(/^v1\.[\w-]+$/);
    expect(cipher).not.toContain('secret-of-iex');
    const encryptionContext = { tenantId: DEMO.tenants.demo, rowId: IEX, field: 'api_token' } as const;
    const { secrets } = service().app;
    expect(secrets.decrypt(String(cipher), encryptionContext)).toBe('secret-of-iex');
    expect(() => secrets.decrypt(String(cipher), { ...encryptionContext, rowId: DEMO.couriers.HRB })).toThrow(
      'belongs to another context',
    );
    expect((await read({ as: 'iex' }).ok()).data.api_token).toBe('secret-of-iex');
    await updateIex({ address2: 'another change' }).ok();
    expect((await rowOf(IEX))['api_token_cipher']).toBe(cipher);
  });
});

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

describe('the format of packages', () => {
  const FORMATS = ['add_package_format', 'update_package_format'] as const;
  const flat = (name: string) => ({ [name]: 'flat' });

  afterEach(async () => {
    const reset = "add_package_format = 'event', update_package_format = 'event', api_url_add_package = null";
    await service().owner.query(`update couriers set ${reset} where id = $1`, [IEX]);
    await service().owner.query('delete from webhook_endpoints where courier_id = $1', [IEX]);
  });

  test.each(FORMATS)('%s is stored per courier and audited, and no other field changes', async (name) => {
    const before = (await read({ as: 'iex' }).ok()).data;
    const changed = await updateIex(flat(name)).ok();
    expect(changed.data).toEqual({ ...before, ...flat(name) });
    expect((await read({ as: 'admin', query: { id: IEX } }).ok()).data).toEqual(changed.data);
    expect((await read({ as: 'hrb' }).ok()).data[name]).toBe('event');
    expect((await auditOf(IEX)).at(-1)).toEqual({
      action: 'courier.updated',
      actor_id: DEMO.users.iex,
      before: { [name]: 'event' },
      after: flat(name),
      request_id: changed.headers.get('x-request-id'),
    });
    expect((await updateIex(flat(name)).ok()).message).toMatch(/Nothing was changed/);
    const restored = await update({ as: 'manager', query: { id: IEX }, body: { [name]: 'event' } }).ok();
    expect(restored.data).toEqual(before);
  });

  test.each(FORMATS)('%s can be an array of flat packages', async (name) => {
    const changed = await updateIex({ [name]: 'flat_array' }).answer();
    expect([changed.status, changed.data[name]]).toEqual([200, 'flat_array']);
  });

  test.each(FORMATS)('%s accepts only its three values', async (name) => {
    for (const value of ['', 'Flat', 'flat ', 'events', 'event_array', 1, null, ['flat']]) {
      const reply = await updateIex({ [name]: value }).answer();
      expect([value, reply.status, ...new Set(fieldsOf(reply))]).toEqual([value, 400, name]);
    }
    const reply = await updateIex({ action: 'regenerate_key', ...flat(name) }).answer();
    expect([reply.status, fieldsOf(reply)]).toEqual([400, [name]]);
  });

  test('a new format resumes a paused URL and keeps the other one paused', async () => {
    await updateIex({ api_url_add_package: 'https://api.island-express.example/packages' }).ok();
    await service().owner.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, failing_since, paused_at)
       select $1, $2, endpoint, 9, now(), now() from unnest(array['add_package', 'update_package']) endpoint`,
      [DEMO.tenants.demo, IEX],
    );
    expect((await updateIex({ address2: 'elsewhere' }).ok()).data.webhooks.add_package.state).toBe('paused');
    const { webhooks } = (await updateIex(flat('add_package_format')).ok()).data;
    expect(webhooks.add_package).toEqual({ ...UNTRIED, state: 'active' });
    expect(webhooks.update_package.paused_at).not.toBeNull();
  });
});

describe('audit of settings', () => {
  test('records who changed what, and of a token only that it changed', async () => {
    await updateIex({ api_token: 'first-token', address2: 'before' }).ok();
    const start = (await auditOf(IEX)).length;
    const changed = await updateIex({ api_token: 'second-token', address2: 'after' }).answer();
    const cleared = await update({ as: 'admin', query: { id: IEX }, body: { api_token: '' } }).answer();
    const entries = (await auditOf(IEX)).slice(start);
    expect(entries).toEqual([
      {
        action: 'courier.updated',
        actor_id: DEMO.users.iex,
        before: { api_token: '(hidden)', address2: 'before' },
        after: { api_token: '(hidden)', address2: 'after' },
        request_id: changed.headers.get('x-request-id'),
      },
      {
        action: 'courier.updated',
        actor_id: DEMO.users.admin,
        before: { api_token: '(hidden)' },
        after: { api_token: null },
        request_id: cleared.headers.get('x-request-id'),
      },
    ]);
    for (const token of ['first-token', 'second-token'])
      expect(JSON.stringify(await auditOf(IEX))).not.toContain(token);
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
    const set = (url: string) =>
      development.call('updateCourierSettings', { as: 'iex', body: { api_url_add_package: url } });
    expect((await set('http://127.0.0.1:9000/hook')).status).toBe(200);
    expect((await set('http://localhost:9000/hook')).status).toBe(200);
    expect((await set('https://10.0.0.1/')).status).toBe(400);
    expect((await set('https://169.254.169.254/')).status).toBe(400);
  } finally {
    await development.stop();
  }
});
