import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../src/demo/seed.js';
import { startService, type Service } from './support/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const IEX_KEY = 'a'.repeat(64);
const HRB_KEY = 'b'.repeat(64);
const TWO_KEY = 'c'.repeat(64);

let serial = 0;
const newNumber = () => `TEST-${process.pid}-${(serial += 1)}`;

const submit = (body: unknown, key: string | undefined = IEX_KEY) =>
  service.call('submitPrealert', { body, ...(key ? { key } : {}) });

describe('POST /api/Prealert', () => {
  test('announces a parcel for an active customer of the key’s courier', async () => {
    const number = newNumber();
    const reply = await submit({
      UserCode: 'IEX-1001',
      TrackingNumber: `  ${number} `,
      Reference: 'order 7',
      Vendor: 'Amazon',
      Description: 'Shoes ✓',
    });
    expect(reply.status).toBe(201);
    const { rows } = await service.owner.query('select * from prealerts where id = $1', [reply.body['data'].prealert_id]);
    expect(rows[0]).toMatchObject({
      courier_id: DEMO.couriers.IEX,
      tracking_number: number,
      tracking_key: number,
      user_code: 'IEX-1001',
      reference: 'order 7',
      vendor: 'Amazon',
      description: 'Shoes ✓',
      status: 'pending',
    });
    const audit = await service.owner.query('select * from audit_entries where entity_id = $1', [rows[0].id]);
    expect(audit.rows).toHaveLength(1);
    expect(audit.rows[0]).toMatchObject({ action: 'prealert.created', actor_kind: 'api_key', actor_id: DEMO.couriers.IEX });
  });
});
