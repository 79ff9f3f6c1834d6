import { makeBilling, newBill } from '../../../support/builders/billing.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

/** Calls and builders for mails with bills. */
export function makeMailCalls({ api, service }: Pick<Fixture, 'api' | 'service'>) {
  const owner = () => service().owner;

  const send = (billId: string, extra: object = {}, as = 'manager') =>
    api.as(as).sendBill(unchecked({ bill_id: billId, ...extra }));
  const listed = async (billId: string) =>
    (await api.as('manager').listBillMails({ bill_id: billId }).ok()).data;

  /** Creates a courier with this address. */
  async function newRecipient(email: string | null): Promise<string> {
    const courierId = await makeBilling(service()).newCourier();
    await owner().query('update couriers set email = $2 where id = $1', [courierId, email]);
    return courierId;
  }

  /** Publishes a bill of 12.00 USD of the courier. Returns its id. */
  async function published(courierId: string): Promise<string> {
    const billing = makeBilling(service());
    const billId = await newBill(billing, courierId);
    const { status } = await billing.publish(billId);
    if (status !== 200) throw new Error(`The bill was not published: ${status}.`);
    return billId;
  }

  return { send, listed, newRecipient, published };
}
