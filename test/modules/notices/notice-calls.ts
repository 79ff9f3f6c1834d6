import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { makeParcels, newNumber, shipPackages } from '../../support/builders/parcels.js';
import { unchecked } from '../../support/fixture/sent.js';
import type { Fixture } from '../../support/fixture/with-service.js';
import type { SentMail } from '../../support/builders/outbox.js';

export type Customer = { id: string; userCode: string; email: string };
export type Parcel = { id: string; number: string };

type Courier = 'IEX' | 'HRB';

/** Calls and builders for notices. */
export function makeNoticeCalls({ api, db, service }: Fixture) {
  const settings = (fields: object, as = 'iex') => api.as(as).updateNoticeSettings(unchecked(fields));

  /** Creates a customer with an address of its own. */
  async function newCustomer(email: string | null = newAddress(), courier: Courier = 'IEX') {
    const { rows } = await service().owner.query<{ id: string; user_code: string }>(
      `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, email)
       select tenant_id, gen_random_uuid(), id, $2, 'Marcia', 'Campbell', $3 from couriers where id = $1 returning id, user_code`,
      [DEMO.couriers[courier], `C-${newNumber()}`, email],
    );
    const [row] = rows;
    if (!row) throw new Error('The customer was not created.');
    return { id: row.id, userCode: row.user_code, email: email ?? '' };
  }

  /** Announces a parcel of a customer, and receives it. */
  async function receive(
    { userCode }: Pick<Customer, 'userCode'>,
    courier: Courier = 'IEX',
  ): Promise<Parcel> {
    const number = newNumber();
    const parcels = makeParcels(service());
    await parcels.announce(courier, number, userCode);
    return { id: await parcels.receive(number), number };
  }

  const record = (packageIds: string[], status: string) =>
    api.as('warehouse').recordPackageEvent(unchecked({ package_ids: packageIds, status }));

  const ship = (parcels: Parcel[]) =>
    shipPackages(
      api,
      parcels.map(({ id }) => id),
    );

  const arrive = (manifestId: string) =>
    api
      .as('warehouse')
      .manageManifest({ action: 'update_meta', manifest_id: manifestId, status: 'completed' });

  const log = async (query: object = {}, as = 'iex') =>
    (
      await api
        .as(as)
        .listNotices(unchecked({ limit: 100, ...query }))
        .ok()
    ).data;

  /** The log of a customer: states and statuses, newest first. */
  const statesOf = async ({ userCode }: Customer) =>
    (await log({ user_code: userCode })).map(({ state, status }) => `${state} ${status}`);

  const page = (method: 'GET' | 'POST', key: string, call: object = {}) =>
    service().request(method, `/notices/${key}`, { headers: { accept: 'text/html' }, ...call });

  return { settings, newCustomer, receive, record, ship, arrive, log, statesOf, page, db };
}

export const newAddress = (): string => `${randomUUID()}@quay.example`;

/** Returns the URL of the mail's List-Unsubscribe header, and the key in it. */
export function linkOf(mail: SentMail | undefined): { url: string; key: string } {
  const [, url = '', key = ''] =
    /^<(https:\/\/[^>]*\/notices\/([0-9a-f]{32}))>$/.exec(mail?.headers['list-unsubscribe'] ?? '') ?? [];
  if (!key) throw new Error('The mail has no link.');
  return { url, key };
}
