import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../src/jobs/retention.js';
import { newId } from '../../../src/platform/values/ids.js';
import { openCallLog, type CallLogOptions } from '../../../src/modules/api-calls/call-log.js';
import type { Call } from '../../../src/platform/identity/call.js';
import { startSecondServer } from '../../support/fixture/second-server.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeLogReader } from './log-reader.js';

const fixture = withService();
const { api, db, service } = fixture;
const { list } = makeLogReader(fixture);
const IEX = DEMO.couriers.IEX;

const prealert = (TrackingNumber: string) => unchecked({ UserCode: 'IEX-1001', TrackingNumber });

/** A call of the courier, which is not sent. */
const callOf = (status: number | null, fields: Partial<Call> = {}): Call => ({
  requestId: newId(),
  operationId: 'submitPrealert',
  status,
  code: status === null || status < 400 ? null : 'duplicate_tracking_number',
  refused: [],
  startedMs: performance.now(),
  durationMs: 5,
  credential: { kind: 'api_key', id: null, hint: 'abc123', courierId: IEX, keyHash: null },
  isReplayed: false,
  named: [],
  ...fields,
});

/** A log of its own, and what it has lost. */
function openLog(options: Partial<CallLogOptions> = {}) {
  const lost = { count: 0, errors: 0 };
  const log = openCallLog({
    days: 30,
    percent: 100,
    onError: () => (lost.errors += 1),
    onLost: (count) => (lost.count += count),
    ...options,
  });
  const record = (calls: Call[]) => {
    for (const call of calls) log.record(call, DEMO.tenants.demo, service().db);
  };
  return { log, lost, record };
}

const calls = (count: number, status: number | null, fields: Partial<Call> = {}) =>
  Array.from({ length: count }, () => callOf(status, fields));

const countOf = async (ids: Call[]): Promise<number> =>
  db.count('api_calls', { request_id: ids.map(({ requestId }) => requestId) });

const usedBy = async (kind: string): Promise<number> =>
  (await db.query<{ used: number }>('select used::int from courier_quotas where kind = $1', [kind]))[0]
    ?.used ?? 0;

/** Sets what the courier has used of the log of today. */
async function setUsed(used: number): Promise<void> {
  await db.query("delete from courier_quotas where kind like 'api_call%'");
  await db.query(
    `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
     values ($1, $2, 'api_call_rows', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $3)`,
    [DEMO.tenants.demo, IEX, used],
  );
}

describe('what is kept of a day', () => {
  test('above 200,000 rows no success is kept, and failures still are', async () => {
    const { log, record } = openLog();
    await setUsed(199_990);
    const successes = calls(20, 201);
    const failures = calls(5, 409);
    record([...successes, ...failures]);
    await log.stop();
    expect(await countOf(failures)).toBe(5);
    expect(await countOf(successes)).toBe(5);
    expect(await usedBy('api_call_rows')).toBe(200_000);
    expect(await usedBy('api_calls_left_out')).toBe(15);
    expect((await list('iex')).meta.left_out_today).toBe(15);
    expect((await list('hrb')).meta.left_out_today).toBe(0);
  });

  test('above 250,000 rows a sample of the failures is kept, and above 300,000 nothing', async () => {
    const { log, record } = openLog();
    await setUsed(250_000);
    const flood = calls(3_000, 409);
    record(flood);
    await log.flush();
    const kept = await countOf(flood);
    // 30 are expected. Less than one in a million runs has fewer than 8, or more than 70.
    expect(kept).toBeGreaterThan(7);
    expect(kept).toBeLessThan(71);
    expect(await usedBy('api_calls_left_out')).toBe(3_000 - kept);
    await setUsed(300_000);
    const rest = calls(1_000, 409);
    record(rest);
    await log.stop();
    expect(await countOf(rest)).toBe(0);
  });

  test('each parcel counts as a row', async () => {
    const { log, record } = openLog();
    await setUsed(0);
    record(calls(2, 200, { named: ['AAA111222', 'BBB111222', 'CCC111222'] }));
    await log.stop();
    expect(await usedBy('api_call_rows')).toBe(8);
    await setUsed(0);
  });
});

test('with a share of the successes, failures and cut calls are still kept', async () => {
  const none = openLog({ percent: 0 });
  const successes = calls(50, 200);
  const failures = [...calls(5, 400), ...calls(5, 503), ...calls(5, null)];
  none.record([...successes, ...failures]);
  await none.log.stop();
  expect([await countOf(successes), await countOf(failures)]).toEqual([0, 15]);
  const half = openLog({ percent: 50 });
  const many = calls(1_000, 200);
  half.record(many);
  await half.log.stop();
  const kept = await countOf(many);
  expect(kept).toBeGreaterThan(380);
  expect(kept).toBeLessThan(620);
});

test('the memory is bounded: what does not fit is lost and counted, and calls of unproven keys displace no others', async () => {
  const { log, lost, record } = openLog();
  const unproven = {
    kind: 'api_key',
    id: null,
    hint: null,
    courierId: undefined,
    keyHash: 'unknown',
  } as const;
  record(calls(500, 413, { credential: unproven }));
  expect(lost.count).toBe(400);
  const own = calls(20_000, 409);
  record(own);
  expect(lost.count).toBe(500);
  await setUsed(0);
  await log.stop();
  expect(await countOf(own)).toBe(19_900);
  expect(lost.errors).toBe(0);
}, 60_000);

test('a courier that names thousands of parcels displaces no calls: beyond its share they are kept without them', async () => {
  const { log, lost, record } = openLog();
  await setUsed(0);
  // As autovacuum does. The tests before have filled the tables, and foreign keys are checked with a plan for few rows until then.
  await db.query('analyze api_calls');
  const named = Array.from({ length: 1_000 }, (_, n) => `SHARE${String(n).padStart(6, '0')}`);
  const greedy = calls(200, 200, { named });
  const other = calls(50, 200, {
    named: ['OTHER7777777', 'OTHER8888888'],
    credential: { ...callOf(200).credential, courierId: DEMO.couriers.HRB },
  });
  record(greedy);
  record(other);
  expect(lost.count).toBe(0);
  // What a busy database did not take is written by the next. stop() writes only once.
  await log.flush();
  await log.stop();
  expect(lost.count).toBe(0);
  expect([await countOf(greedy), await countOf(other)]).toEqual([200, 50]);
  const parcelsOf = (of: Call[]) =>
    db.count('api_call_parcels', { request_id: of.map(({ requestId }) => requestId) });
  expect(await parcelsOf(other)).toBe(100);
  expect(await parcelsOf(greedy)).toBe(10_000);
}, 60_000);

test('calls that the memory has no room for are counted for their courier', async () => {
  const { log, lost, record } = openLog();
  await setUsed(0);
  record(calls(20_030, 409));
  expect(lost.count).toBe(30);
  await log.stop();
  expect((await list('iex')).meta.left_out_today).toBe(30);
  expect((await list('hrb')).meta.left_out_today).toBe(0);
}, 60_000);

test('a log that ends writes what it has in memory', async () => {
  const { log, lost, record } = openLog();
  await setUsed(0);
  const own = calls(4, 409);
  record(own);
  await log.stop();
  expect([await countOf(own), lost.count]).toEqual([4, 0]);
});

test('an unavailable database affects no request, and the calls are written when it is back', async () => {
  const { log, lost, record } = openLog();
  await setUsed(0);
  const owner = service().owner;
  await owner.query('alter table api_calls rename to api_calls_away');
  const sent = await api.withKey(DEMO.apiKeys.IEX).submitPrealert(prealert('AWAY10000001')).created();
  const own = calls(3, 409);
  record(own);
  await log.flush();
  await service().app.callLog.flush();
  expect(lost).toEqual({ count: 0, errors: 1 });
  await owner.query('alter table api_calls_away rename to api_calls');
  await log.stop();
  expect(await countOf(own)).toBe(3);
  expect((await list('iex', { request_id: sent.requestId ?? '' })).data).toHaveLength(1);
});

test('a call that the database refuses is lost alone, and the others are written at once', async () => {
  const { log, lost, record } = openLog();
  await setUsed(0);
  const own = calls(300, 409);
  const refused = callOf(409, { credential: { ...callOf(409).credential, hint: 'a\0b' } });
  record([...own.slice(0, 123), refused, ...own.slice(123)]);
  await log.flush();
  expect(await countOf(own)).toBe(300);
  expect(lost).toEqual({ count: 1, errors: 1 });
  await log.stop();
  expect(await countOf([refused])).toBe(0);
});

test('what could not be written for a minute, or at the end, is lost and counted', async () => {
  const { log, lost, record } = openLog();
  const owner = service().owner;
  await owner.query('alter table api_calls rename to api_calls_away');
  record(calls(2, 409, { startedMs: performance.now() - 61_000 }));
  record(calls(3, 409));
  await log.flush();
  expect(lost.count).toBe(2);
  await log.stop();
  expect(lost).toEqual({ count: 5, errors: 2 });
  await owner.query('alter table api_calls_away rename to api_calls');
});

test('calls are deleted after their period, with the parcels that they named', async () => {
  const { log, record } = openLog();
  const [old, young] = [callOf(200, { named: ['OLD1111111'] }), callOf(200, { named: ['YOUNG111111'] })];
  record([old, young]);
  await log.stop();
  const [row] = await db.query<{ days: number }>(
    'select round(extract(epoch from expires_at - now()) / 86400)::int as days from api_calls where request_id = $1',
    [old.requestId],
  );
  expect(row?.days).toBe(30);
  await db.query("update api_calls set expires_at = now() - interval '1 second' where request_id = $1", [
    old.requestId,
  ]);
  await deleteExpired({ db: service().db, stopping: new AbortController().signal });
  expect([await countOf([old]), await countOf([young])]).toEqual([0, 1]);
  expect(await db.query("select parcel_key from api_call_parcels where parcel_key like '%111111'")).toEqual([
    { parcel_key: 'YOUNG111111' },
  ]);
});

test('two servers write to the same log, and the end of one writes what it has in memory', async () => {
  const second = await startSecondServer(service(), 5);
  const send = async (url: string, number: string) => {
    const response = await fetch(`${url}/api/Prealert.php`, {
      method: 'POST',
      headers: { 'x-api-key': DEMO.apiKeys.IEX, 'content-type': 'application/json' },
      body: JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: number }),
    });
    expect(response.status).toBe(201);
    return response.headers.get('x-request-id') ?? '';
  };
  const first = await send(service().url, 'FIRST1000001');
  const other = await send(second.url, 'SECOND100001');
  await second.close();
  const { data } = await list('iex', { operation: 'submitPrealert', limit: 10 });
  expect(data.map(({ request_id }) => request_id)).toEqual(expect.arrayContaining([first, other]));
}, 30_000);

describe('with API_CALL_LOG_DAYS=0', () => {
  const off = withService({ env: { API_CALL_LOG_DAYS: '0' } });

  test('no call is kept, and the log says so', async () => {
    await off.api.withKey(DEMO.apiKeys.IEX).submitPrealert(prealert('OFF100000001')).created();
    await off.service().app.callLog.flush();
    expect(await off.db.count('api_calls')).toBe(0);
    expect((await off.api.as('iex').listApiCalls().ok()).meta).toMatchObject({ kept_days: 0 });
  });
});
