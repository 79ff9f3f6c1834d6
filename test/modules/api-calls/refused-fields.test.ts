import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { NDJSON, toLines } from '../prealerts/batches/batch-calls.js';
import { makeTokenCalls } from '../service-tokens/token-calls.js';
import { makeLogReader } from './log-reader.js';

const fixture = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { api } = fixture;
const { find } = makeLogReader(fixture);
const tokens = makeTokenCalls(api);
const byKey = api.withKey(DEMO.apiKeys.IEX);

test('the log names the fields that a call was refused for, and the reasons, without what they contained', async () => {
  const refused = await byKey
    .submitPrealert(unchecked({ UserCode: 'Ann Lee', TrackingNumber: '', VendorName: 7 }))
    .refused(400, 'validation_failed');
  const call = await find('iex', refused);
  expect(call?.refused).toEqual(refused.errors.map(({ field, code }) => ({ field, code })));
  expect(call?.refused.length).toBeGreaterThan(0);
  expect(JSON.stringify(call)).not.toContain('Ann Lee');
});

test('a line of a batch that is refused as a whole has its row', async () => {
  const lines = toLines([{ UserCode: 'IEX-1001', TrackingNumber: 'REFUSED7788' }]);
  const refused = await byKey
    .submitPrealert(unchecked(`${lines}\n`.repeat(1_001)), { headers: NDJSON })
    .answer();
  const call = await find('iex', refused);
  expect(call).toMatchObject({ status: 400 });
  expect(call?.refused).toEqual(refused.errors.map(({ field, code, row }) => ({ field, code, row })));
});

test('a query parameter of a service token, and a call with an Idempotency-Key', async () => {
  const { secret } = await tokens.create('iex');
  const bad = await api
    .withToken(secret)
    .listPackages(unchecked({ limit: 'many' }))
    .refused(400, 'validation_failed');
  expect((await find('iex', bad))?.refused).toMatchObject([{ field: 'limit' }]);
  const keyed = await byKey
    .submitPrealert(unchecked({ UserCode: 'IEX-1001' }), { headers: { 'idempotency-key': 'refused-1' } })
    .refused(400, 'validation_failed');
  expect((await find('iex', keyed))?.refused).toMatchObject([{ field: 'TrackingNumber' }]);
});

test('at most five of many', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `no-uuid-${n}`);
  const { secret } = await tokens.create('iex');
  const many = await api
    .withToken(secret)
    .listPackages(unchecked({ package_ids: ids }))
    .refused(400, 'validation_failed');
  expect((await find('iex', many))?.refused).toHaveLength(5);
});

test('the name of an unknown parameter is cut to what PostgreSQL stores', async () => {
  const name = `a${'😀'.repeat(100)}`;
  const refused = await api
    .as('iex')
    .listEvents(unchecked({ [name]: 1 }))
    .refused(400, 'validation_failed');
  // 100 UTF-16 units end in the middle of a character, which PostgreSQL would refuse.
  expect((await find('iex', refused))?.refused).toEqual([
    { field: `a${'😀'.repeat(49)}\ufffd`, code: 'unknown_parameter' },
  ]);
});

test('a success refuses nothing', async () => {
  const { secret } = await tokens.create('iex');
  expect((await find('iex', await tokens.packages(secret).ok()))?.refused).toEqual([]);
});
