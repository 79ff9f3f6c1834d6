import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import type { Call } from '../../../support/service/service.js';
import { makeBatchCalls, PATHS, prealert, shown } from './batch-calls.js';

const { api, db } = withService();
const { resultsOf, send } = makeBatchCalls(api);

describe('atomic', () => {
  const atomic = { query: { atomic: true } };

  test.each(PATHS)('%s stores all lines or none, and names the failed lines', async (path) => {
    const [announced, good] = [prealert(), prealert()];
    await send([announced], atomic, path).ok();
    const before = await db.fingerprint();
    const lines = [good, announced, prealert({ UserCode: 'HRB-2001' }), '{', {}];
    const mixed = await send(lines, atomic, path).refused(400, 'validation_failed');
    expect(mixed.message).toBe('Nothing was stored. Correct the lines named in errors. There are 4.');
    expect(mixed.errors).toMatchObject([
      { row: 2, field: 'TrackingNumber', code: 'duplicate' },
      { row: 3, field: 'UserCode', code: 'unknown' },
      { row: 4, field: 'body', code: 'malformed_json' },
      { row: 5, field: 'UserCode', code: 'required' },
      { row: 5, field: 'TrackingNumber', code: 'required' },
    ]);
    const twice = [good, announced, good];
    const again = await send(twice, atomic, path).refused(409, 'duplicate_tracking_number');
    expect(again.errors).toMatchObject([{ row: 2, field: 'TrackingNumber' }, { row: 3 }]);
    expect(again.message).toContain('There are 2.');
    await send(['{'], atomic, path).refused(400, 'validation_failed');
    expect(await db.fingerprint()).toEqual(before);
    const stored = await resultsOf([good, prealert()], atomic, path);
    expect(shown(stored)).toEqual(['1 created', '2 created']);
  });

  test('has no effect on a single pre-alert', async () => {
    await api.withKey(DEMO.apiKeys.IEX).submitPrealert(prealert(), atomic).created();
    const maybe = { query: { atomic: 'maybe' } };
    const { errors } = await send([prealert()], maybe).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'atomic' }]);
  });
});

describe('with an Idempotency-Key', () => {
  const withKey = (key: string): Call => ({ headers: { 'idempotency-key': key } });

  test('the same bytes get the first response again, and other bytes or another query 409', async () => {
    const lines = [prealert(), prealert({ UserCode: 'NOBODY' }), '{'];
    const first = await send(lines, withKey('batch-1')).ok();
    const again = await send(lines, withKey('batch-1')).ok();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.bytes).toEqual(first.bytes);
    await send([...lines, ''], withKey('batch-1')).refused(409, 'idempotency_key_reused');
    const atomic = { ...withKey('batch-1'), query: { atomic: true } };
    await send(lines, atomic).refused(409, 'idempotency_key_reused');
  });

  test('a refused atomic batch is executed again, because it had no effect', async () => {
    const call = { ...withKey('batch-2'), query: { atomic: true } };
    const wrong = [prealert(), prealert({ UserCode: 'NOBODY' })];
    for (const lines of [wrong, wrong]) {
      const { headers } = await send(lines, call).refused(400, 'validation_failed');
      expect(headers.get('idempotency-replayed')).toBeNull();
    }
    const corrected = await send([prealert(), prealert()], call).ok();
    expect(corrected.headers.get('idempotency-replayed')).toBeNull();
  });
});
