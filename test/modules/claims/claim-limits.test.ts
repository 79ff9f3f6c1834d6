import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';

// What a courier, a user and an address may claim. The limits of users and addresses are in memory, so each block has a service of its own.

const { IEX } = DEMO.couriers;
const OF_COURIER = 5;
const CHANGES = 20;
const OF_USER = 30;
const OF_ADDRESS = 60;

describe('further claims of a number', () => {
  const { api, db, service } = withService();
  const claim = (as: string, tracking_number: string, user_code: string) =>
    api.as(as).claimParcel({ tracking_number, user_code });

  test('are twenty a day for all users of a courier, and a new number stays possible', async () => {
    const number = newNumber();
    const { claim_id } = (await claim('iex', number, CUSTOMERS.IEX).created()).data;
    for (let n = 0; n < CHANGES; n += 1) await claim('iex', number, CUSTOMERS.IEX).created();
    const refused = await claim('iex', ` ${number}`, 'IEX-1002').refused(429, 'quota_exceeded');
    expect(refused.message).toContain('20 further claims per day');
    const forIex = { tracking_number: number, user_code: 'IEX-1002', courier_id: IEX };
    await api.as('admin').claimParcel(forIex).refused(429, 'quota_exceeded');
    expect(await db.count('parcel_claims', { id: claim_id, user_code: CUSTOMERS.IEX })).toBe(1);
    // The audit log has the refused ones, too.
    const refusals = (await makeParcels(service()).auditOf(IEX)).filter(
      ({ action }) => action === 'courier.claim_refused',
    );
    expect(refusals.map(({ after }) => after)).toEqual([
      { user_code: 'IEX-1002', tracking_number: number },
      { user_code: 'IEX-1002', tracking_number: number },
    ]);
    await claim('iex', newNumber(), CUSTOMERS.IEX).created();
    const other = newNumber();
    for (let n = 0; n < 2; n += 1) await claim('hrb', other, CUSTOMERS.HRB).created();
  });
});

describe('claims of one user', () => {
  const CALLERS = rounds(80, 300);
  const { api, db } = withService();

  test(`store five of ${CALLERS} at the same time, end after ${OF_USER}, and leave its address to others`, async () => {
    const codes = await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const sent = { tracking_number: newNumber(), user_code: CUSTOMERS.IEX };
        const { status, code } = await api.as('iex').claimParcel(sent).answer();
        return status === 201 ? 'created' : code;
      }),
    );
    const count = (code: string) => codes.filter((each) => each === code).length;
    expect({
      created: count('created'),
      // Some find all connections in use.
      quota: count('quota_exceeded') + count('overloaded'),
      user: count('too_many_attempts'),
    }).toEqual({ created: OF_COURIER, quota: OF_USER - OF_COURIER, user: CALLERS - OF_USER });
    expect(await db.count('parcel_claims', { courier_id: IEX })).toBe(OF_COURIER);
    await api.as('hrb').claimParcel({ tracking_number: newNumber(), user_code: CUSTOMERS.HRB }).created();
  });
});

describe('the claims of an address', () => {
  const { api, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const claim = (as: string, body: object, address: string) =>
    api
      .as(as)
      .claimParcel({ tracking_number: newNumber(), user_code: CUSTOMERS.IEX, ...body }, from(address));

  /** Plants couriers with one customer each, `CUSTOMER`, and returns their ids. */
  async function insertCouriers(count: number): Promise<string[]> {
    const { rows } = await service().owner.query<{ id: string }>(
      `insert into couriers (tenant_id, id, code, name)
       select $1, new_id(), 'LIM' || n, 'Courier ' || n from generate_series(1, $2) n returning id`,
      [DEMO.tenants.demo, count],
    );
    await service().owner.query(
      `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
       select $1, new_id(), courier, 'CUSTOMER', 'Ann', 'Example' from unnest($2::uuid[]) courier`,
      [DEMO.tenants.demo, rows.map(({ id }) => id)],
    );
    return rows.map(({ id }) => id);
  }

  test(`end after ${OF_ADDRESS} claims of new numbers. Repeated claims do not count`, async () => {
    const couriers = await insertCouriers(OF_ADDRESS / OF_COURIER);
    const [shared, other] = ['192.0.2.1', '192.0.2.2'];
    const number = newNumber();
    for (let n = 0; n < CHANGES; n += 1) await claim('iex', { tracking_number: number }, shared).created();
    const staff = couriers.flatMap((courier_id) => Array.from({ length: OF_COURIER }, () => courier_id));
    const users = ['admin', 'manager', 'warehouse'];
    for (const [n, courier_id] of staff.slice(1).entries())
      await claim(users[n % users.length] ?? '', { courier_id, user_code: 'CUSTOMER' }, shared).created();
    const late = await claim('hrb', { user_code: CUSTOMERS.HRB }, shared).refused(429, 'too_many_attempts');
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
    await claim('hrb', { user_code: CUSTOMERS.HRB }, other).created();
  });
});
