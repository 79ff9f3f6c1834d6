import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { untilAdmitted, type Call } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { fieldsOf, makeSettingsCalls, UNTRIED, WHOLE } from './settings-calls.js';

const IEX = DEMO.couriers.IEX;

const fixture = withService();
const { service } = fixture;
const { read, update, updateIex, auditOf } = makeSettingsCalls(fixture);

async function rowOf(courierId: string): Promise<Record<string, unknown>> {
  const { rows } = await service().owner.query('select * from couriers where id = $1', [courierId]);
  return rows[0] ?? {};
}

describe('reading settings', () => {
  test('a courier reads its whole profile with its secrets', async () => {
    const reply = await read({ as: 'iex' }).ok();
    expect(reply.data).toEqual({
      courier_id: IEX,
      add_package_events: ['package.created'],
      update_package_events: ['package.status_changed', 'package.updated'],
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
    const [equal, none] = ['The settings already have these values.', 'The request has no field to change.'];
    const ignored = `${none} Ignored, because the operation has no such fields: unknown.`;
    const bodies = [
      [WHOLE, equal],
      [{ api_token: WHOLE.api_token }, equal],
      [{}, none],
      [{ unknown: 1 }, ignored],
    ] as const;
    for (const [body, message] of bodies) {
      const reply = await update({ as: 'hrb', body }).answer();
      expect(reply).toMatchObject({
        status: 200,
        body: { message: `${message} Nothing was changed.`, data: WHOLE },
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
