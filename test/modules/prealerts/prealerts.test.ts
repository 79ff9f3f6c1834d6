import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { whileInactive } from '../../support/harness/inactive-courier.js';
import { startService, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { api, service } = withService();

const UNKNOWN_ID = '01930a3e-0000-7000-8000-000000000000';

let serial = 0;
const newNumber = () => `TEST-${(serial += 1)}`;

const submit = (body: unknown, key: string = DEMO.apiKeys.IEX) =>
  api.withKey(key).submitPrealert(unchecked(body));

async function storedPrealert(id: string) {
  const { rows } = await service().owner.query('select * from prealerts where id = $1', [id]);
  return rows[0];
}

async function auditOf(id: string) {
  const { rows } = await service().owner.query(
    'select * from audit_entries where entity_id = $1 order by at, id',
    [id],
  );
  return rows;
}

/** Returns everything by which a caller could distinguish two rejections. */
const distinguishable = ({ status, body }: Reply) => ({ status, ...body, request_id: '', timestamp: 0 });

describe('POST /api/Prealert', () => {
  test("creates a pre-alert for an active customer of the key's courier, as sent", async () => {
    const number = newNumber();
    const reply = await submit({
      UserCode: 'IEX-1001',
      TrackingNumber: `  ${number} `,
      Reference: 'order 7',
      Vendor: 'Amazon',
      Description: 'Shoes ✓ %_\\',
    }).created();
    const id = reply.data.prealert_id;
    expect(await storedPrealert(id)).toMatchObject({
      courier_id: DEMO.couriers.IEX,
      tracking_number: number,
      user_code: 'IEX-1001',
      reference: 'order 7',
      vendor: 'Amazon',
      description: 'Shoes ✓ %_\\',
      status: 'pending',
    });
    const [entry, ...more] = await auditOf(id);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 'prealert.created',
      actor_kind: 'api_key',
      actor_id: DEMO.couriers.IEX,
    });
    expect(entry.after).toMatchObject({ tracking_number: number });
  });

  test('is the same operation with and without the .php suffix', async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: newNumber() };
    await api.withKey(DEMO.apiKeys.IEX).submitPrealertWithoutSuffix(body).created();
    expect(await submit(body).status()).toBe(409);
  });

  test('accepts a key in the query, and the header takes precedence', async () => {
    const body = () => ({ UserCode: 'IEX-1001', TrackingNumber: newNumber() });
    const inQuery = { query: { api_key: DEMO.apiKeys.IEX } };
    expect(
      await api
        .with({ ...inQuery })
        .submitPrealert(body())
        .status(),
    ).toBe(201);
    const wrongHeader = await api
      .with({ key: 'wrong', ...inQuery })
      .submitPrealert(body())
      .answer();
    expect(wrongHeader.code).toBe('key_invalid');
  });

  test('responds 401 without a key, and a bearer token does not replace it', async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: newNumber() };
    for (const call of [{ body }, { body, as: 'iex' }]) {
      const reply = await api.with(call).submitPrealert().answer();
      expect(reply).toMatchObject({ status: 401, body: { status: 'fail', code: 'key_missing' } });
    }
  });

  test('says which credential it takes if the request has the other kind', async () => {
    const withToken = await api.as('iex').submitPrealert(unchecked({})).answer();
    expect(withToken.body).toMatchObject({
      code: 'key_missing',
      message: expect.stringContaining('you sent an access token'),
    });
    const key = DEMO.apiKeys.IEX;
    for (const call of [{ key }, { query: { api_key: key } }])
      expect((await api.with(call).listPrealerts().answer()).body).toMatchObject({
        code: 'token_missing',
        message: expect.stringContaining('you sent an API key'),
      });
    expect((await api.anonymous.listPrealerts().refused(401, 'token_missing')).message).not.toContain(
      'you sent',
    );
  });

  test('says so if the header of one credential has the other kind', async () => {
    const token = await service().tokenOf('iex');
    const key = DEMO.apiKeys.IEX;
    for (const sent of [token, `Bearer ${token}`])
      for (const call of [{ key: sent }, { query: { api_key: sent } }])
        expect(
          (
            await api
              .with({ ...call, body: {} })
              .submitPrealert()
              .refused(403, 'key_invalid')
          ).message,
        ).toContain('You sent an access token');
    for (const authorization of [`Bearer ${key}`, key, `bearer  ${key.toUpperCase()}`])
      expect(
        (await api.with({ headers: { authorization } }).listPrealerts().refused(401, 'token_invalid'))
          .message,
      ).toContain('You sent an API key');
    for (const authorization of [
      token,
      `Token ${token}`,
      `Bearer: ${token}`,
      `Bearer "${token}"`,
      `"Bearer ${token}"`,
    ])
      expect(
        (await api.with({ headers: { authorization } }).listPrealerts().refused(401, 'token_missing'))
          .message,
      ).toContain('Begin it with "Bearer "');
    for (const authorization of ['Bearer x', `Bearer ${key}.x`, 'Basic eDp5'])
      expect((await api.with({ headers: { authorization } }).listPrealerts().answer()).message).not.toContain(
        'You sent',
      );
    const wrong = await api.with({ key: 'a.b', body: {} }).submitPrealert().refused(403, 'key_invalid');
    expect(wrong.message).not.toContain('You sent');
  });

  test('rejects unknown keys, foreign keys and keys of deactivated couriers identically', async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: newNumber() };
    const refusals = [
      await submit(body, 'f'.repeat(64)).answer(),
      await submit(body, DEMO.apiKeys.TWO).answer(),
    ];
    const ofInactive = () => submit({ ...body, UserCode: 'HRB-2001' }, DEMO.apiKeys.HRB).answer();
    refusals.push(await whileInactive(service().owner, DEMO.couriers.HRB, ofInactive));
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ status: 403, body: { code: 'key_invalid' } });
    expect(new Set(refusals.map((refusal) => JSON.stringify(distinguishable(refusal)))).size).toBe(1);
  });

  test('an address that keeps sending wrong keys gets 429, but its valid key still works', async () => {
    const other = await startService();
    const send = (key: string) =>
      other.call('submitPrealert', { key, body: { UserCode: 'IEX-1001', TrackingNumber: newNumber() } });
    const replies = await Promise.all(Array.from({ length: 320 }, (_, n) => send(`wrong-${n}`)));
    expect(replies.filter(({ status }) => status === 403)).toHaveLength(300);
    const [limited] = replies.filter(({ status }) => status === 429);
    expect(limited?.body['code']).toBe('too_many_attempts');
    expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await send(DEMO.apiKeys.IEX)).status).toBe(201);
    await other.stop();
  });

  test("responds identically to customers that are a sibling's, inactive or unknown", async () => {
    const codes = ['HRB-2001', 'IEX-1200', 'NOBODY', 'iex-1001', 'xIEX-1001'];
    const replies = await Promise.all(
      codes.map((UserCode) => submit({ UserCode, TrackingNumber: newNumber() }).answer()),
    );
    for (const reply of replies)
      expect(reply).toMatchObject({ status: 400, body: { code: 'unknown_user_code' } });
    expect(new Set(replies.map((reply) => JSON.stringify(distinguishable(reply)))).size).toBe(1);
  });

  test('a number is unique per courier, in any spelling, and free for sibling couriers', async () => {
    const number = newNumber();
    expect(await submit({ UserCode: 'IEX-1001', TrackingNumber: number }).status()).toBe(201);
    const again = await submit({ UserCode: 'IEX-1002', TrackingNumber: ` ${number}` }).answer();
    expect(again).toMatchObject({ status: 409, body: { status: 'fail', code: 'duplicate_tracking_number' } });
    const lower = { UserCode: 'IEX-1001', TrackingNumber: number.toLowerCase() };
    await submit(lower).refused(409, 'duplicate_tracking_number');
    expect(await submit({ UserCode: 'HRB-2001', TrackingNumber: number }, DEMO.apiKeys.HRB).status()).toBe(
      201,
    );
  });

  test('is created as received if the package is already in the warehouse for this courier', async () => {
    const number = newNumber();
    await api
      .as('warehouse')
      .receivePackage({
        tracking_number: number,
        weight: 2.5,
        user_code: 'IEX-1001',
        courier_id: DEMO.couriers.IEX,
      })
      .created();
    const own = await submit({ UserCode: 'IEX-1001', TrackingNumber: number }).succeeded();
    const siblings = await submit(
      { UserCode: 'HRB-2001', TrackingNumber: number },
      DEMO.apiKeys.HRB,
    ).succeeded();
    expect((await storedPrealert(own.data.prealert_id)).status).toBe('received');
    expect((await storedPrealert(siblings.data.prealert_id)).status).toBe('pending');
  });

  test.each([
    [{ TrackingNumber: 'X' }, 'UserCode'],
    [{ UserCode: 'IEX-1001' }, 'TrackingNumber'],
    [{ UserCode: 'IEX-1001', TrackingNumber: ' \t ' }, 'TrackingNumber'],
    [{ UserCode: 'IEX-1001', TrackingNumber: '\u3000' }, 'TrackingNumber'],
    [{ UserCode: 'IEX-1001', TrackingNumber: 'x'.repeat(256) }, 'TrackingNumber'],
    [{ UserCode: 'x'.repeat(101), TrackingNumber: 'X' }, 'UserCode'],
    [{ UserCode: 12, TrackingNumber: 'X' }, 'UserCode'],
    [{ UserCode: 'IEX-1001', TrackingNumber: 'X', Vendor: null }, 'Vendor'],
  ])('rejects %j with 400 naming %s', async (body, field) => {
    const reply = await submit(body).answer();
    expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ field }] } });
  });

  test('counts lengths in characters and accepts the limit', async () => {
    const number = `${'é😀'.repeat(127)}x`;
    expect([...number]).toHaveLength(255);
    expect(await submit({ UserCode: 'IEX-1001', TrackingNumber: number }).status()).toBe(201);
  });
});

describe('GET /api/ManagePrealerts', () => {
  const list = (query: Record<string, string | number>, as = 'admin') => api.as(as).listPrealerts(query);

  test('returns page 1 of 50, newest first, with stats of all matches by default', async () => {
    const reply = await list({}).ok();
    const { data, meta } = reply.body;
    expect(meta).toMatchObject({ current_page: 1, per_page: 50 });
    expect(data).toHaveLength(50);
    const times = data.map((row: { created_at: string }) => row.created_at);
    expect(times).toEqual([...times].sort().reverse());
    const { rows } = await service().owner.query(
      `select count(*)::int as total, count(*) filter (where status = 'pending')::int as pending,
         count(*) filter (where status = 'received')::int as received,
         count(*) filter (where status = 'flagged')::int as flagged
       from prealerts where tenant_id = $1`,
      [DEMO.tenants.demo],
    );
    expect(meta.stats).toEqual(rows[0]);
    expect(meta.total_records).toBe(rows[0].total);
    expect(meta.total_pages).toBe(Math.ceil(rows[0].total / 50));
  });

  test('returns the names of courier and customer and the reference', async () => {
    const number = newNumber();
    await submit({ UserCode: 'IEX-1001', TrackingNumber: number, Reference: 'R-1' }).succeeded();
    const { data } = await list({ search: number }).answer();
    const customer = await service().owner.query("select * from customers where user_code = 'IEX-1001'");
    expect(data).toMatchObject([
      {
        tracking_number: number,
        reference: 'R-1',
        courier_name: 'Island Express',
        first_name: customer.rows[0].first_name,
        last_name: customer.rows[0].last_name,
      },
    ]);
  });

  test.each(['created_at', 'status', 'tracking_number', 'vendor', 'user_code'])(
    'sorts by %s in both directions',
    async (sort_by) => {
      const { rows } = await service().owner.query(
        `select id from prealerts where tenant_id = $1 order by ${sort_by} asc${sort_by === 'status' ? ', created_at' : ''}, id asc`,
        [DEMO.tenants.demo],
      );
      const ids = rows.map(({ id }) => id);
      const asc = await list({ sort_by, sort_dir: 'ASC', limit: 500 }).answer();
      const desc = await list({ sort_by, sort_dir: 'DESC', limit: 500 }).answer();
      const idsOf = (reply: Reply) =>
        reply.body['data'].map((row: { prealert_id: string }) => row.prealert_id);
      expect(idsOf(asc)).toEqual(ids);
      expect(idsOf(desc)).toEqual([...ids].reverse());
    },
  );

  test('pages contain each record once, and a page past the end is empty', async () => {
    const all = await list({ limit: 500 }).ok();
    const pages = [];
    for (let page = 1; page <= Math.ceil(all.data.length / 7); page += 1) {
      pages.push(...(await list({ limit: 7, page }).ok()).data);
    }
    expect(pages).toEqual(all.data);
    const past = await list({ limit: 7, page: 1000 }).ok();
    expect(past.data).toEqual([]);
    expect(past.meta.total_records).toBe(all.meta.total_records);
  });

  test('the status filter applies to the records and the stats', async () => {
    for (const status of ['pending', 'received', 'flagged']) {
      const { data, meta } = await list({ status, limit: 500 }).answer();
      expect(data.length).toBeGreaterThan(0);
      expect(data.filter((row: { status: string }) => row.status !== status)).toEqual([]);
      expect(meta.stats).toMatchObject({ total: data.length, [status]: data.length });
    }
  });

  test('couriers see only their own pre-alerts, and staff filter by courier_id', async () => {
    const ownersOf = ({ body }: Reply) =>
      new Set(body['data'].map((row: { courier_id: string }) => row.courier_id));
    const own = await list({ courier_id: DEMO.couriers.HRB, limit: 500 }, 'iex').ok();
    expect(ownersOf(own)).toEqual(new Set([DEMO.couriers.IEX]));
    expect(own.meta.stats.total).toBe(own.data.length);
    const filtered = await list({ courier_id: DEMO.couriers.HRB, limit: 500 }).answer();
    expect(ownersOf(filtered)).toEqual(new Set([DEMO.couriers.HRB]));
    expect((await list({ courier_id: UNKNOWN_ID }).ok()).data).toEqual([]);
    expect((await list({ courier_id: DEMO.couriers.TWO }).ok()).data).toEqual([]);
  });

  test('search finds literal text in number, code, vendor and names and counts the matches', async () => {
    const marks = ['100%', 'a_b', 'back\\slash', 'Ünïcode', 'ReBeL', "quo'te", '%', '_', '\\'];
    for (const vendor of marks)
      await submit({ UserCode: 'IEX-1003', TrackingNumber: newNumber(), Vendor: vendor }).succeeded();
    const { rows } = await service().owner.query(
      `select p.id, p.tracking_number, p.user_code, p.vendor, c.first_name, c.last_name from prealerts p
       left join customers c using (tenant_id, courier_id, user_code) where p.tenant_id = $1`,
      [DEMO.tenants.demo],
    );
    const names = rows
      .flatMap((row) => [row.first_name, `${row.first_name} ${row.last_name}`])
      .filter(Boolean)
      .slice(0, 30);
    const queries = [
      ...marks,
      ...names,
      'iex-10',
      'IEX-1003',
      '1Z',
      'zzzzzz',
      '%%',
      'rebel',
      'ÜNÏ',
      '0',
      'TEST-',
    ];
    for (const search of queries) {
      const contains = (text: string | null) => text?.toLowerCase().includes(search.toLowerCase()) ?? false;
      const expected = rows
        .filter((row) =>
          [
            row.tracking_number,
            row.user_code,
            row.vendor,
            row.first_name && `${row.first_name} ${row.last_name}`,
          ].some(contains),
        )
        .map(({ id }) => id);
      const { data, meta } = await list({ search, limit: 500 }).answer();
      expect({
        search,
        ids: data.map((row: { prealert_id: string }) => row.prealert_id).sort(),
      }).toEqual({
        search,
        ids: expected.sort(),
      });
      expect(meta.stats.total).toBe(expected.length);
    }
  });

  test("a courier's search does not find a sibling's pre-alerts", async () => {
    const { data, meta } = await list({ search: 'HRB-2' }, 'iex').answer();
    expect(data).toEqual([]);
    expect(meta.stats.total).toBe(0);
  });
});

describe('POST /api/ManagePrealerts', () => {
  const create = (body: Record<string, unknown>, as = 'manager') =>
    api.as(as).createPrealert(unchecked(body));
  const valid = () => ({
    tracking_number: newNumber(),
    user_code: 'IEX-1001',
    vendor: 'Shein',
    courier_id: DEMO.couriers.IEX,
  });

  test('staff create a pre-alert for a named courier', async () => {
    const body = valid();
    const reply = await create(body).created();
    const id = reply.data.prealert_id;
    expect(await storedPrealert(id)).toMatchObject({
      courier_id: DEMO.couriers.IEX,
      vendor: 'Shein',
      status: 'pending',
    });
    expect(await auditOf(id)).toMatchObject([
      { action: 'prealert.created', actor_kind: 'user', actor_id: DEMO.users.manager },
    ]);
  });

  test('requires a courier_id from staff and responds 404 identically to unknown and foreign ones', async () => {
    const { courier_id: _, ...without } = valid();
    expect(await create(without).answer()).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'courier_id' }] },
    });
    const unknown = await create({ ...valid(), courier_id: UNKNOWN_ID }).answer();
    const foreign = await create({ ...valid(), courier_id: DEMO.couriers.TWO }).answer();
    expect(unknown).toMatchObject({ status: 404, body: { code: 'courier_not_found' } });
    expect(distinguishable(foreign)).toEqual(distinguishable(unknown));
  });

  test("uses the courier's own account, whatever courier_id it sends", async () => {
    const reply = await create({ ...valid(), courier_id: DEMO.couriers.HRB }, 'iex').created();
    expect((await storedPrealert(reply.data.prealert_id)).courier_id).toBe(DEMO.couriers.IEX);
    expect(await create({ ...valid(), user_code: 'HRB-2001' }, 'iex').answer()).toMatchObject({
      status: 400,
    });
  });

  test('requires an active customer of the courier', async () => {
    for (const user_code of ['IEX-1200', 'HRB-2001', 'NOBODY']) {
      expect(await create({ ...valid(), user_code }).answer()).toMatchObject({
        status: 400,
        body: { code: 'unknown_user_code' },
      });
    }
  });

  test('rejects a number that the courier has already announced with 409', async () => {
    const body = valid();
    await create(body).created();
    expect(await create(body).answer()).toMatchObject({
      status: 409,
      body: { code: 'duplicate_tracking_number' },
    });
  });
});

describe('PUT and DELETE /api/ManagePrealerts', () => {
  const makeOne = async () => {
    const tracking_number = newNumber();
    const reply = await submit({
      UserCode: 'IEX-1001',
      TrackingNumber: tracking_number,
      Description: 'old',
      Reference: 'R',
    }).succeeded();
    return { prealert_id: reply.data.prealert_id, tracking_number };
  };
  const replace = (body: Record<string, unknown>, as = 'manager') =>
    api.as(as).replacePrealert(unchecked(body));
  const remove = (prealert_id: string, as = 'manager') => api.as(as).deletePrealert({ prealert_id });

  test('PUT replaces the editable fields, clears an omitted description and returns the record', async () => {
    const { prealert_id } = await makeOne();
    const tracking_number = newNumber();
    const reply = await replace(
      { prealert_id, tracking_number, user_code: 'IEX-1002', vendor: 'Temu' },
      'iex',
    ).ok();
    expect(reply.data).toMatchObject({
      prealert_id,
      tracking_number,
      user_code: 'IEX-1002',
      vendor: 'Temu',
      description: null,
      reference: 'R',
      courier_name: 'Island Express',
    });
    const [, entry] = await auditOf(prealert_id);
    expect(entry).toMatchObject({
      action: 'prealert.replaced',
      before: { description: 'old' },
      after: { description: null },
    });
  });

  test('PUT rejects a number that the courier has already announced with 409 and changes nothing', async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    const before = await storedPrealert(one.prealert_id);
    const reply = await replace({
      ...one,
      tracking_number: other.tracking_number,
      user_code: 'IEX-1002',
      vendor: 'x',
    }).answer();
    expect(reply.status).toBe(409);
    expect(await storedPrealert(one.prealert_id)).toEqual(before);
  });

  test('PUT accepts the unchanged number', async () => {
    const one = await makeOne();
    expect(await replace({ ...one, user_code: 'IEX-1002', vendor: 'x' }).status()).toBe(200);
  });

  test("PUT rejects a sibling courier's customer with 400", async () => {
    const one = await makeOne();
    expect(await replace({ ...one, user_code: 'HRB-2001', vendor: 'x' }).answer()).toMatchObject({
      status: 400,
    });
  });

  test('DELETE removes the record permanently and audits it', async () => {
    const { prealert_id, tracking_number } = await makeOne();
    expect(await remove(prealert_id, 'iex').status()).toBe(200);
    expect(await storedPrealert(prealert_id)).toBeUndefined();
    const entries = await auditOf(prealert_id);
    expect(entries.at(-1)).toMatchObject({
      action: 'prealert.deleted',
      before: { tracking_number },
      after: null,
    });
    expect(await remove(prealert_id).status()).toBe(404);
  });

  test('responds to records of siblings and other tenants as if they did not exist, and changes nothing', async () => {
    const { prealert_id } = await makeOne();
    const { rows } = await service().owner.query('select id from prealerts where tenant_id = $1', [
      DEMO.tenants.two,
    ]);
    const fields = { tracking_number: newNumber(), user_code: 'HRB-2001', vendor: 'x' };
    const missing = await remove(UNKNOWN_ID, 'hrb').answer();
    expect(missing).toMatchObject({ status: 404, body: { code: 'prealert_not_found' } });
    for (const id of [prealert_id, rows[0].id]) {
      expect(distinguishable(await remove(id, 'hrb').answer())).toEqual(distinguishable(missing));
      expect(distinguishable(await replace({ prealert_id: id, ...fields }, 'hrb').answer())).toEqual(
        distinguishable(missing),
      );
      expect(await storedPrealert(id)).toMatchObject({ id });
    }
  });

  test('the tallies equal the counted rows after all tests above', async () => {
    const counted = await service().owner.query(
      'select courier_id, status, count(*)::int as n from prealerts group by 1, 2 order by 1, 2',
    );
    const tallied = await service().owner.query(
      'select courier_id, status, sum(total)::int as n from prealert_tallies group by 1, 2 having sum(total) <> 0 order by 1, 2',
    );
    expect(tallied.rows).toEqual(counted.rows);
  });
});
