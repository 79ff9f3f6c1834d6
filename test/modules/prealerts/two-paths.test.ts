import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';

const { api } = withService();

const PATHS = ['submitPrealert', 'submitPrealertWithoutSuffix'] as const;

test.each([
  ['/api/Prealert.php', '/api/Prealert', PATHS],
  ['/api/Prealert', '/api/Prealert.php', [PATHS[1], PATHS[0]] as const],
])(
  'a request to %s is repeated on %s with the same Idempotency-Key',
  async (_first, _then, [first, then]) => {
    const call = {
      key: DEMO.apiKeys.IEX,
      body: { UserCode: 'IEX-1001', TrackingNumber: newNumber() },
      headers: { 'idempotency-key': newNumber() },
    };
    const created = await api.with(call)[first]().created();
    const again = await api.with(call)[then]().created();
    expect(again.data).toEqual(created.data);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = { ...call, body: { ...call.body, TrackingNumber: newNumber() } };
    expect((await api.with(other)[then]().answer()).body['code']).toBe('idempotency_key_reused');
  },
);
