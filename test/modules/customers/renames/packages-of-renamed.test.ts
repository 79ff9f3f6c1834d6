import { beforeAll, describe, expect, test } from '@jest/globals';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';

// A package keeps the user code with which it was received. After a rename it is still that customer's.

const { api, service } = withService();
beforeAll(() => {
  parcels = makeParcels(service());
});
let parcels: ReturnType<typeof makeParcels>;

let serial = 0;
const newCode = () => `PKGOF-${(serial += 1)}`;

const create = async (user_code: string) => {
  const { data } = await api.as('iex').createCustomer({ user_code, first_name: 'A', last_name: 'B' }).ok();
  return data.id;
};
const rename = (courier_customer_id: string, user_code: string) =>
  api.as('iex').updateCustomer({ courier_customer_id, user_code }).ok();
const correct = async (packageId: string, tracking_number: string) =>
  expect(await parcels.update('admin', packageId, { tracking_number })).toMatchObject({ status: 200 });

/** A customer with a pre-alert, and a package that was received with another number. */
async function mistyped(code = newCode()) {
  const customer = await create(code);
  const [announced, typed] = [newNumber(), newNumber()];
  const prealert = await parcels.announce('IEX', announced, code);
  const packageId = await parcels.receive(typed, { user_code: code });
  return { code, customer, announced, prealert, packageId };
}

describe('the package of a renamed customer', () => {
  test.each([1, 2])(
    'is matched with its pre-alert when its number is corrected after %i renames',
    async (times) => {
      const { customer, announced, prealert, packageId, code } = await mistyped();
      for (let n = 0; n < times; n += 1) await rename(customer, newCode());
      await correct(packageId, announced);
      expect(await parcels.statusOf(prealert)).toBe('received');
      expect(await parcels.packageRow(packageId)).toMatchObject({ user_code: code, prealert_id: prealert });
    },
  );

  test('can be assigned to its pre-alert by a review', async () => {
    const { customer, announced, prealert, packageId } = await mistyped();
    await parcels.announce('HRB', announced);
    await correct(packageId, announced);
    expect(await parcels.statusOf(prealert)).toBe('flagged');
    await rename(customer, newCode());
    const review = { prealert_id: prealert, reason: 'Looked.', assign: true };
    expect((await api.as('admin').reviewPrealert(review).ok()).data.status).toBe('received');
    expect(await parcels.packageRow(packageId)).toMatchObject({ prealert_id: prealert });
  });

  test('does not flag a pre-alert of the customer when it is scanned again', async () => {
    const code = newCode();
    const customer = await create(code);
    const number = newNumber();
    await parcels.receive(number, { user_code: code });
    await rename(customer, newCode());
    const id = await parcels.announce('IEX', number, `PKGOF-${serial}`);
    // As an earlier release stored it.
    await parcels.select("update prealerts set status = 'pending' where id = $1", [id]);
    expect((await parcels.scan(number)).body['data']).toMatchObject({ flagged: false });
  });
});

describe('a former code is not taken for the customer', () => {
  const expectFlagged = async ({ announced, prealert, packageId }: Awaited<ReturnType<typeof mistyped>>) => {
    await correct(packageId, announced);
    expect(await parcels.statusOf(prealert)).toBe('flagged');
    const review = { prealert_id: prealert, reason: 'Looked.', assign: true };
    expect(await api.as('admin').reviewPrealert(review).answer()).toMatchObject({
      status: 400,
      body: { code: 'package_not_assignable' },
    });
  };

  test('if another customer has it now', async () => {
    const made = await mistyped();
    await rename(made.customer, newCode());
    await create(made.code);
    await expectFlagged(made);
  });

  test('if another customer had it when the package was received', async () => {
    const code = newCode();
    const { customer: former, packageId } = await mistyped(code);
    await api
      .as('iex')
      .deleteCustomer(undefined, { query: { id: former } })
      .ok();
    const later = newCode();
    const customer = await create(later);
    const announced = newNumber();
    const prealert = await parcels.announce('IEX', announced, later);
    await rename(customer, code);
    await rename(customer, newCode());
    await expectFlagged({ code, customer, announced, prealert, packageId });
  });

  test('if the customer got it after the package was received', async () => {
    const other = newCode();
    const customer = await create(other);
    const made = await mistyped();
    const announced = newNumber();
    const prealert = await parcels.announce('IEX', announced, other);
    await rename(made.customer, newCode());
    await rename(customer, made.code);
    await rename(customer, newCode());
    await expectFlagged({ ...made, announced, prealert });
  });
});
