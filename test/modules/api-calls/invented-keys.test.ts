import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';

// What anybody sends as a key is not stored, and keeps no call of others from the log.

const { api, db, service } = withService();

/** Refused by its headers, before the key is looked at: only then is an invented key written with the calls of others. */
async function sendRefused(key: string, place: 'query' | 'header'): Promise<number> {
  const query = place === 'query' ? `?api_key=${key}` : '';
  const { status } = await fetch(`${service().url}/api/Prealert.php${query}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', ...(place === 'header' ? { 'x-api-key': key } : {}) },
    body: 'x',
  });
  return status;
}

const LONG = 'a'.repeat(30);
const IN_QUERY = [
  '%F0%9F%98%80bcdef',
  '%00bcd',
  '%ED%A0%80abcdef',
  '%EF%B7%BA',
  '%22%7D%5D',
  "'--",
  '%5Cu0000ab',
  '%E2%80%AEabc',
];
const IN_HEADER = ['\u00e9\u00fc', '"}]', '\\u0000ab', "';--", '\u00a0abc'];

test('no invented key is stored, and the calls of others are written at once', async () => {
  for (const end of IN_QUERY) expect(await sendRefused(`${LONG}${end}`, 'query')).toBe(415);
  for (const end of IN_HEADER) expect(await sendRefused(`${LONG}${end}`, 'header')).toBe(415);
  const sent = await api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: 'BESIDE000001' })
    .created();
  await service().app.callLog.flush();
  const calls = await db.all('api_calls', {});
  expect(calls.map(({ request_id }) => request_id)).toEqual([sent.requestId]);
});
