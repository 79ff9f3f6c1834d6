import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { insertCouriers } from '../../../support/builders/register.js';
import { withService } from '../../../support/fixture/with-service.js';
import { fieldsOf, fresh, makeCourierCalls, type Row } from './courier-calls.js';

const { IEX, TWO } = DEMO.couriers;
const UNKNOWN = '01930a3e-0000-7000-8000-000000000000';

const fixture = withService();
const { service } = fixture;
const { list, manage, rows, auditOf } = makeCourierCalls(fixture);

describe('list of couriers', () => {
  test("returns each courier's profile and counts without secrets", async () => {
    const reply = await list().ok();
    expect(reply.body).toMatchObject({
      message: '2 couriers found.',
      meta: { current_page: 1, per_page: 50, total_records: 2, total_pages: 1 },
    });
    const [hrb, iex] = reply.data;
    expect(iex).toEqual({
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
      house_color: '#0A7D5C',
      is_active: true,
      has_api_key: true,
      uses_global_rates: false,
      user_count: 1,
      customer_count: 200,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
    });
    expect(hrb).toMatchObject({ courier_code: 'HRB', uses_global_rates: true, customer_count: 100 });
    const text = JSON.stringify(reply.body);
    for (const secret of [DEMO.apiKeys.IEX, DEMO.apiKeys.HRB, 'hash', 'cipher', 'token', 'secret'])
      expect(text).not.toContain(secret);
  });

  test('pages contain each courier once, and a page past the last is empty', async () => {
    await insertCouriers(service().owner);
    const all = (await list({ limit: 500 }).ok()).data as Row[];
    expect(all).toHaveLength(26);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list({ page, limit: 10 }).answer()));
    expect(pages.flatMap(({ body }) => body['data'])).toEqual(all);
    expect(pages[3]?.body['meta']).toEqual({
      current_page: 4,
      per_page: 10,
      total_records: 26,
      total_pages: 3,
    });
    await rows("delete from couriers where code ~ '^P[0-9]+$'");
  });

  test('search matches % and _ literally and ignores case', async () => {
    const found = async (search: string) =>
      ((await list({ search }).ok()).data as Row[]).map((each) => each['courier_code']);
    expect(await found('ISLAND')).toEqual(['IEX']);
    expect(await found('rb')).toEqual(['HRB']);
    expect(await found('(barbados) INC')).toEqual(['HRB']);
    for (const search of ['%', '_', '\\', 'I%S']) expect(await found(search)).toEqual([]);
    expect(await found('')).toEqual(['HRB', 'IEX']);
  });

  test('is readable for managers, but not for warehouse staff and couriers', async () => {
    await list({}, 'manager').ok();
    for (const as of ['warehouse', 'iex']) await list({}, as).refused(403, 'permission_denied');
  });
});

describe('courier update', () => {
  test('changes only the given fields, clears blank ones and audits the difference', async () => {
    const { data } = await manage(fresh({ email: 'a@x.example', city_town: 'Kingston' })).ok();
    const reply = await manage({
      action: 'update',
      courier_id: data.courier_id,
      courier_name: 'Renamed',
      house_color: '#ffffff',
      email: '',
      api_token: 'tok',
      is_active: false,
    }).answer();
    const { api_key: _key, login: _login, ...before } = data;
    const changed = { courier_name: 'Renamed', house_color: '#ffffff', email: null };
    expect(reply.body).toMatchObject({ message: 'Courier updated.', data: { ...before, ...changed } });
    const [, entry, ...more] = await auditOf(data.courier_id);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 'courier.updated',
      before: { courier_name: 'New Courier', house_color: '#2B5FA8', email: 'a@x.example' },
      after: changed,
    });
    expect(await rows('select api_token_cipher from couriers where id = $1', [data.courier_id])).toEqual([
      { api_token_cipher: null },
    ]);
  });

  test('changes nothing if the values are equal', async () => {
    const before = await fingerprint(service().owner);
    for (const fields of [{}, { courier_name: 'Island Express', address2: ' ' }, { courier_code: 'XXX' }]) {
      const reply = await manage({ action: 'update', courier_id: IEX, ...fields }).answer();
      expect(reply).toMatchObject({ status: 200, body: { data: { courier_code: 'IEX' } } });
      expect(reply.message).toContain('Nothing was changed');
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('names every invalid field', async () => {
    const bad = {
      courier_name: 'a\nb',
      email: 'desk\u2028x',
      address2: 'x\u2029x',
      company_name: 'a\nb',
      phone_number1: '1\n2',
      phone_number2: '1\n2',
      city_town: 'a\nb',
      parish_province: 'a\nb',
    };
    const reply = await manage({ action: 'update', courier_id: IEX, ...bad }).answer();
    expect(reply.status).toBe(400);
    expect(fieldsOf(reply).sort()).toEqual(
      Object.keys(bad)
        .map((field) => `${field} pattern`)
        .sort(),
    );
  });

  test.each(['update', 'deactivate', 'activate'])(
    'responds 404 to %s for an unknown courier',
    async (action) => {
      for (const courier_id of [UNKNOWN, TWO])
        await manage({ action, courier_id, courier_name: 'X' }).refused(404, 'courier_not_found');
    },
  );
});
