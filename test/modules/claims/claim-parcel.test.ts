import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;
const ATTEMPTS = 5;

/** The limits of an address are in memory, so each block has a service of its own. */
const forget = (owner: { query(text: string): unknown }) =>
  owner.query("delete from courier_quotas where kind = 'claim_attempts'");

describe('a claim', () => {
  const { api, db, service } = withService();
  afterEach(async () => {
    await forget(service().owner);
  });
  const claim = (tracking_number: string, user_code: string = CUSTOMERS.IEX) =>
    api.as('iex').claimParcel({ tracking_number, user_code });

  test('is stored and audited, and its courier lists it', async () => {
    const number = newNumber();
    const { claim_id, status } = (await claim(` ${number} `).created()).data;
    expect(status).toBe('open');
    const [listed] = (await api.as('iex').listParcelClaims({ limit: 1 }).ok()).data;
    expect(listed).toMatchObject({
      claim_id,
      courier_id: IEX,
      user_code: CUSTOMERS.IEX,
      tracking_number: number,
      status: 'open',
      reason: null,
      package_id: null,
      decided_at: null,
    });
    const parcels = makeParcels(service());
    expect(await parcels.auditOf(claim_id)).toEqual([
      {
        action: 'parcel_claim.submitted',
        actor_id: listed?.submitted_by,
        before: null,
        after: { user_code: CUSTOMERS.IEX, tracking_number: number },
      },
    ]);
  });

  test('of a number that the courier claims already replaces the customer', async () => {
    const number = newNumber();
    const first = (await claim(number).created()).data;
    expect((await claim(number, 'IEX-1002').created()).data).toEqual(first);
    expect(await db.count('parcel_claims', { tracking_number: number })).toBe(1);
    const [listed] = (await api.as('iex').listParcelClaims({ limit: 1 }).ok()).data;
    expect(listed?.user_code).toBe('IEX-1002');
  });

  test('is refused without a number, with several, and for a customer of another courier', async () => {
    await claim(';').refused(400, 'validation_failed');
    await claim('1Z999AA10123456784, 9400111899223100701112').refused(400, 'validation_failed');
    await claim(newNumber(), CUSTOMERS.HRB).refused(400, 'unknown_user_code');
  });

  test('is made by staff for a courier that they name', async () => {
    const body = { tracking_number: newNumber(), user_code: CUSTOMERS.IEX };
    await api.as('warehouse').claimParcel(body).refused(400, 'validation_failed');
    await api
      .as('warehouse')
      .claimParcel({ ...body, courier_id: DEMO.users.admin })
      .refused(404, 'courier_not_found');
    await api
      .as('warehouse')
      .claimParcel({ ...body, courier_id: HRB })
      .refused(400, 'unknown_user_code');
    const { claim_id } = (
      await api
        .as('warehouse')
        .claimParcel({ ...body, courier_id: IEX })
        .created()
    ).data;
    const [listed] = (await api.as('iex').listParcelClaims({ limit: 1 }).ok()).data;
    expect(listed).toMatchObject({ claim_id, courier_id: IEX, submitted_by: DEMO.users.warehouse });
    await api.anonymous.claimParcel(body).refused(401, 'token_missing');
  });
});

describe('the attempts of a courier', () => {
  const { api, db, service } = withService();

  test('end after five in an hour for all its tokens, right or wrong, and others have their own', async () => {
    const right = newNumber();
    const parcels = makeParcels(service());
    await parcels.receive(right, {});
    await service().owner.query(
      `insert into users (tenant_id, id, username, full_name, role, password_hash, courier_id)
       select tenant_id, new_id(), 'iex-second', 'Second User', role, password_hash, courier_id from users where username = 'iex'
         and tenant_id = $1`,
      [DEMO.tenants.demo],
    );
    const users = ['iex', 'iex-second'];
    const attempt = (n: number, tracking_number: string) =>
      api.as(users[n % users.length] ?? 'iex').claimParcel({ tracking_number, user_code: CUSTOMERS.IEX });
    for (let n = 0; n < ATTEMPTS; n += 1) await attempt(n, newNumber()).created();
    const wrong = await attempt(0, newNumber()).refused(429, 'quota_exceeded');
    const late = await attempt(1, right).refused(429, 'quota_exceeded');
    expect(late.message).toBe(wrong.message);
    // The audit log has the attempts that were refused, too.
    const refused = (await parcels.auditOf(IEX)).filter(({ action }) => action === 'courier.claim_refused');
    expect(refused.map(({ after }) => after)).toContainEqual({
      user_code: CUSTOMERS.IEX,
      tracking_number: right,
    });
    expect(refused).toHaveLength(2);
    expect(await db.count('parcel_claims', { tracking_number: right })).toBe(0);
    // Staff claim for the courier within the same limit.
    const forIex = { tracking_number: right, user_code: CUSTOMERS.IEX, courier_id: IEX };
    await api.as('admin').claimParcel(forIex).refused(429, 'quota_exceeded');
    await api.as('hrb').claimParcel({ tracking_number: right, user_code: CUSTOMERS.HRB }).created();
  });
});
