import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newServiceToken } from '../../../src/platform/access/service-tokens.js';
import { useUp } from './allowance/use-up.js';
import { startService, type Call, type Reply, type Service } from '../../support/service/service.js';

// One MiB: about 240 small requests.
const LIMIT = 1024 * 1024;
const REQUEST_BYTES = 4 * 1024;
const MOST = LIMIT / REQUEST_BYTES;

let service: Service;

// The level of an owner is also in the process, so each test has a service of its own.
beforeEach(async () => {
  service = await startService({ env: { WRITTEN_MIB_PER_DAY: '1' } });
});

const stopAfter = async (work: () => Promise<void>) => {
  try {
    await work();
  } finally {
    await service.stop();
  }
};

const prealert = (key = DEMO.apiKeys.IEX, headers = {}): Call => ({
  key,
  headers,
  body: { UserCode: key === DEMO.apiKeys.IEX ? 'IEX-1001' : 'HRB-2001', TrackingNumber: `W-${randomUUID()}` },
});

const customer = (as: string): Call => ({
  as,
  body: {
    user_code: `W${randomUUID().slice(0, 8)}`,
    first_name: 'F',
    last_name: 'L',
    ...(as === 'iex' ? {} : { courier_id: DEMO.couriers.IEX }),
  },
});

/** Returns how many calls succeed before one is refused, and the refusal. */
async function callUntilRefused(call: () => Promise<Reply>): Promise<{ served: number; refused: Reply }> {
  for (let served = 0; served <= 2 * MOST; served += 1) {
    const reply = await call();
    if (reply.status === 429) return { served, refused: reply };
    expect([200, 201]).toContain(reply.status);
  }
  throw new Error('No call was refused.');
}

const countRows = async (table: string) => {
  const { rows } = await service.owner.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
};

const countWritten = () =>
  Promise.all(['prealerts', 'audit_entries', 'events', 'idempotency_keys'].map(countRows));

test('an API key in a loop is stopped at the allowance, with all that its courier has, and others are served on', () =>
  stopAfter(async () => {
    const first = prealert(DEMO.apiKeys.IEX, { 'idempotency-key': 'before' });
    expect((await service.call('submitPrealert', first)).status).toBe(201);
    const { served, refused } = await callUntilRefused(() => service.call('submitPrealert', prealert()));
    expect(served).toBeGreaterThan(MOST / 2);
    expect(served).toBeLessThan(MOST);
    expect(refused.body).toMatchObject({ code: 'quota_exceeded' });
    expect(refused.headers.get('ratelimit-policy')).toBe(`"written-bytes";q=${LIMIT};qu="bytes";w=86400`);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(2 * (86_400 / MOST));

    const before = await countWritten();
    const keyed = prealert(DEMO.apiKeys.IEX, { 'idempotency-key': 'refused' });
    for (const call of [keyed, keyed, prealert()])
      expect((await service.call('submitPrealert', call)).status).toBe(429);
    expect((await service.call('createCustomer', customer('iex'))).status).toBe(429);
    expect(await countWritten()).toEqual(before);

    const replay = await service.call('submitPrealert', first);
    expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect((await service.call('listCustomers', { as: 'iex' })).status).toBe(200);
    expect((await service.call('submitPrealert', prealert(DEMO.apiKeys.HRB))).status).toBe(201);
    expect((await service.call('createCustomer', customer('admin'))).status).toBe(200);
    // Ending a session must always work.
    expect((await service.call('manageSessions', { as: 'iex', body: { action: 'logout' } })).status).toBe(
      200,
    );
  }));

test('a session of the staff in a loop of audited changes is stopped, and the audit log with it', () =>
  stopAfter(async () => {
    const before = await countRows('audit_entries');
    await callUntilRefused(() => service.call('createCustomer', customer('admin')));
    const entries = await countRows('audit_entries');
    expect(entries - before).toBeLessThan(2 * MOST);
    expect((await service.call('createCustomer', customer('admin'))).status).toBe(429);
    expect(await countRows('audit_entries')).toBe(entries);
    expect((await service.call('createCustomer', customer('manager'))).status).toBe(200);
  }));

test('a copy of a rate table is charged for its tiers, and so is their replacement', () =>
  stopAfter(async () => {
    const manage = (body: object) => service.call('manageCourierRates', { as: 'manager', body });
    const tiers = Array.from({ length: 100 }, (_, n) => ({
      startweight: n,
      endweight: n + 0.999,
      fee: 1,
    }));
    expect((await manage({ action: 'save_rates', rates: tiers })).status).toBe(200);
    const courier_id = DEMO.couriers.IEX;
    let isCopy = false;
    const { served } = await callUntilRefused(() => {
      isCopy = !isCopy;
      return isCopy
        ? manage({ action: 'copy_default', courier_id })
        : manage({ action: 'save_rates', courier_id, rates: tiers.slice(0, 1) });
    });
    // 100 KiB each.
    expect(served).toBeLessThan(12);
    expect(served).toBeGreaterThan(4);
  }));

test('a batch is charged for what it carries, and a request that writes nothing is free', () =>
  stopAfter(async () => {
    // Refused by the work, after the bytes were taken.
    const known = customer('iex');
    expect((await service.call('createCustomer', known)).status).toBe(200);
    for (let n = 0; n < MOST + 10; n += 1)
      expect((await service.call('createCustomer', known)).status).toBe(409);
    // 200 lines take more than half of the allowance.
    const batch = (): Call => ({
      key: DEMO.apiKeys.IEX,
      body: Buffer.from(
        Array.from({ length: 200 }, () =>
          JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: `B-${randomUUID()}` }),
        ).join('\n'),
      ),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect((await service.call('submitPrealert', batch())).status).toBeLessThan(300);
    expect((await service.call('submitPrealert', batch())).status).toBe(429);
  }));

test('requests at the same time pass the allowance by no more than what was granted before the first answer', () =>
  stopAfter(async () => {
    expect((await service.call('submitPrealert', prealert())).status).toBe(201);
    const replies = await Promise.all(
      Array.from({ length: 2 * MOST }, () => service.call('submitPrealert', prealert())),
    );
    const served = replies.filter(({ status }) => status === 201);
    expect(served.length).toBeLessThan(MOST);
    expect(served.length).toBeGreaterThan(0);
  }));

test('an invented service token learns nothing of what the courier or the staff have written', () =>
  stopAfter(async () => {
    await useUp(service);
    for (const courierId of [DEMO.couriers.IEX, null]) {
      const token = newServiceToken({ tokenId: randomUUID(), courierId });
      const reply = await service.call('createCustomer', {
        headers: { authorization: `Bearer ${token}` },
        body: { ...(customer('admin').body as object) },
      });
      expect([courierId, reply.status, reply.body['code']]).toEqual([
        courierId,
        401,
        'service_token_invalid',
      ]);
    }
  }));

test('an invented service token of a courier uses up nothing of the courier', () =>
  stopAfter(async () => {
    const token = newServiceToken({ tokenId: randomUUID(), courierId: DEMO.couriers.IEX });
    for (let n = 0; n < MOST + 10; n += 1) {
      const reply = await service.call('submitPrealert', {
        headers: { authorization: `Bearer ${token}` },
        body: prealert().body as object,
      });
      expect([401, 403, 429]).toContain(reply.status);
    }
    expect((await service.call('submitPrealert', prealert())).status).toBe(201);
  }));

test('a shipment is charged for the packages of its manifest, which it does not list', () =>
  stopAfter(async () => {
    const created = await service.call('createManifest', { as: 'warehouse', body: {} });
    const manifestId: string = created.body['data'].manifest_id;
    await service.owner.query(
      `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id, manifest_id)
       select $1, new_id(), $2, 'SHIP' || n, 'SHIP' || n, 'S' || n, 1, $3, $4 from generate_series(1, 600) n`,
      [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.warehouses.primary, manifestId],
    );
    const update = (body: object) =>
      service.call('manageManifest', {
        as: 'warehouse',
        body: { action: 'update_meta', manifest_id: manifestId, ...body },
      });
    expect((await update({ status: 'ready' })).status).toBe(200);
    expect((await update({ notes: 'Not charged' })).status).toBe(200);
    // 600 packages take more than 1 MiB.
    expect((await update({ status: 'shipped' })).status).toBe(200);
    const refused = await update({ status: 'completed' });
    expect([refused.status, refused.body['code']]).toEqual([429, 'quota_exceeded']);
    expect((await service.call('createManifest', { as: 'admin', body: {} })).status).toBe(200);
  }));

test('a void is charged for the scans and the history of its parcel, which it does not list', () =>
  stopAfter(async () => {
    const as = 'warehouse';
    const receive = (number: string) =>
      service.call('receivePackage', { as, body: { tracking_number: number, weight: 1 } });
    const { body } = await receive('VOIDED-1');
    const { package_id: id } = body['data'];
    // 1,100 changes of 1 KiB take more than 1 MiB.
    await service.owner.query(
      `insert into package_events (tenant_id, id, package_id, previous_status, status, source)
       select $1, new_id(), $2, 'received', 'on_hold', 'recorded' from generate_series(1, 1100)`,
      [DEMO.tenants.demo, id],
    );
    const voided = await service.call('voidReceipt', { as, body: { package_id: id, reason: 'By mistake' } });
    expect(voided.status).toBe(200);
    expect((await receive('VOIDED-2')).body['code']).toBe('quota_exceeded');
  }));
