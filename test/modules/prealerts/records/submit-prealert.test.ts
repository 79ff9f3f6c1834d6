import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { whileInactive } from '../../../support/harness/inactive-courier.js';
import { startService, untilAdmitted } from '../../../support/service/service.js';
import { makeApi } from '../../../support/fixture/api.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { distinguishable, makePrealertCalls, newNumber } from './prealert-calls.js';

const fixture = withService();
const { api, service } = fixture;
const { submit, storedPrealert, auditOf } = makePrealertCalls(fixture);

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
    const asKey = api.with({ key: `cdk_${'0'.repeat(92)}`, body: {} });
    expect((await asKey.submitPrealert().refused(403, 'key_invalid')).message).toContain(
      'You sent a service token as the API key. Send it as "Authorization: Bearer',
    );
    const keys = [`Bearer ${key}`, key, `bearer  ${key.toUpperCase()}`, `Token ${key}`, `Bearer "${key}"`];
    for (const authorization of keys) {
      const call = { headers: { authorization } };
      for (const { message } of [
        await api.with(call).listPrealerts().refused(401, 'token_invalid'),
        await api
          .with({ ...call, body: {} })
          .submitPrealert()
          .refused(401, 'key_missing'),
      ]) {
        expect(message).toContain('looks like an API key');
        expect(message).toContain('the header X-API-KEY');
      }
    }
    // Only the form counts: no key of this instance is needed.
    const unknown = { headers: { authorization: `Bearer ${'0'.repeat(64)}` } };
    const { message } = await api.with(unknown).listPrealerts().refused(401, 'token_invalid');
    expect(message).toContain('looks like an API key');
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
        'looks like an API key',
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
    const there = makeApi(() => other);
    const send = (key: string) =>
      there.withKey(key).submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: newNumber() });
    const sendUntilAdmitted = (n: number) => untilAdmitted(() => send(`wrong-${n}`).answer());
    const replies = await Promise.all(Array.from({ length: 320 }, (_, n) => sendUntilAdmitted(n)));
    expect(replies.filter(({ status }) => status === 403)).toHaveLength(300);
    const [limited] = replies.filter(({ status }) => status === 429);
    expect(limited?.code).toBe('too_many_attempts');
    expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(800);
    await send(DEMO.apiKeys.IEX).created();
    await other.stop();
  });

  test("responds identically to customers that are a sibling's, inactive or unknown", async () => {
    const message = expect.stringContaining('Codes are compared exactly, with upper and lower case.');
    const codes = ['HRB-2001', 'IEX-1200', 'NOBODY', 'iex-1001', 'xIEX-1001'];
    const replies = await Promise.all(
      codes.map((UserCode) => submit({ UserCode, TrackingNumber: newNumber() }).answer()),
    );
    for (const reply of replies)
      expect(reply).toMatchObject({ status: 400, body: { code: 'unknown_user_code', message } });
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

test('the tallies equal the counted rows after all tests above', async () => {
  const counted = await service().owner.query(
    'select courier_id, status, count(*)::int as n from prealerts group by 1, 2 order by 1, 2',
  );
  const tallied = await service().owner.query(
    'select courier_id, status, sum(total)::int as n from prealert_tallies group by 1, 2 having sum(total) <> 0 order by 1, 2',
  );
  expect(tallied.rows).toEqual(counted.rows);
});
