import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeConnectionShares } from '../../../../src/platform/limits/connection-shares.js';
import { startService, type Service } from '../../../support/service/service.js';
import { serviceTokenOf } from '../../../support/service/principals.js';

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 60_000);
afterAll(() => service.stop(), 60_000);

test('a key and a token that are valid at one tenant are unknown at another, and what they send there counts for no courier', async () => {
  const token = await serviceTokenOf(service, 'iex', ['prealerts:write']);
  const body = () => ({ UserCode: 'IEX-1001', TrackingNumber: `T-${randomUUID()}` });
  for (const credential of [{ key: DEMO.apiKeys.IEX }, { token }])
    for (let round = 0; round < 3; round += 1) {
      const own = await service.call('submitPrealert', { ...credential, body: body() });
      expect([credential, own.status]).toEqual([credential, 201]);
      const host = DEMO.hosts.two;
      const other = await service.call('submitPrealert', { ...credential, host, body: body() });
      expect([credential, other.body['code']]).toEqual([
        credential,
        'key' in credential ? 'key_invalid' : 'service_token_invalid',
      ]);
    }
  await service.app.server.close();
  const { rows } = await service.owner.query<{ tenant_id: string; principal_id: string }>(
    "select tenant_id, principal_id from write_allowances where principal_kind = 'courier'",
  );
  expect(rows).toEqual([{ tenant_id: DEMO.tenants.demo, principal_id: DEMO.couriers.IEX }]);
});

test('what is known of a key at one tenant is unknown at another, while it is in use at its own', () => {
  const shares = makeConnectionShares({
    size: 10,
    countTenants: () => Promise.resolve(2),
    isAway: () => false,
  });
  const at = (tenantId: string) => ({ tenantId, keyHash: 'hash' });
  shares.recordKeyOwner(at('one'), 'courier');
  expect([shares.courierOfKey(at('one')), shares.courierOfKey(at('two'))]).toEqual(['courier', undefined]);
  shares.forgetKey(at('two'));
  expect(shares.courierOfKey(at('one'))).toBe('courier');
});
