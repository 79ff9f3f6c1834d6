import { beforeAll, describe, expect, test } from '@jest/globals';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';

// A pre-alert whose number is replaced gets the status of its new parcel.

const { api, service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

const LABEL = '1001921334250001800354779017972697';
const SHORT = '779017972697';

const replace = async (as: string, prealert_id: string, tracking_number: string) => {
  const body = { prealert_id, user_code: 'IEX-1001', tracking_number, vendor: 'Shop' };
  const reply = await api.as(as).replacePrealert(body).ok();
  return reply.data.status;
};

async function receivedPrealert(): Promise<{ id: string; number: string }> {
  const number = newNumber();
  const id = await parcels.announce('IEX', number);
  await parcels.receive(number);
  expect(await parcels.statusOf(id)).toBe('received');
  return { id, number };
}

describe.each(['iex', 'warehouse'])('a received pre-alert that %s moves', (as) => {
  test('to a parcel that has not arrived is pending, and its parcel gets the owner when it arrives', async () => {
    const { id } = await receivedPrealert();
    const number = newNumber();
    expect(await replace(as, id, number)).toBe('pending');
    const { data } = await api.as('warehouse').resolveScan({ scan: number }).answer();
    expect(data).toMatchObject({ next: 'receive', owner: { user_code: 'IEX-1001' } });
    expect((await parcels.scan(number)).body['data']).toMatchObject({
      user_code: 'IEX-1001',
      prealert_id: id,
    });
    expect(await parcels.statusOf(id)).toBe('received');
  });

  test('to another received parcel of the customer stays received', async () => {
    const { id } = await receivedPrealert();
    const number = newNumber();
    await parcels.receive(number, { user_code: 'IEX-1001' });
    expect(await replace(as, id, number)).toBe('received');
  });

  test('to a parcel that another courier has received is pending until the next scan flags it', async () => {
    const { id } = await receivedPrealert();
    const number = newNumber();
    await parcels.receive(number, { user_code: 'HRB-2001' });
    expect(await replace(as, id, number)).toBe('pending');
    expect((await parcels.scan(number)).body['data']).toMatchObject({ flagged: true });
    expect(await parcels.statusOf(id)).toBe('flagged');
  });
});

test('a received pre-alert stays received if another spelling or symbol of its parcel is stored', async () => {
  const id = await parcels.announce('IEX', LABEL);
  await parcels.receive(SHORT);
  expect(await replace('iex', id, SHORT)).toBe('received');
  expect(await replace('iex', id, LABEL)).toBe('received');
  expect(await replace('iex', id, `]C1${LABEL}`)).toBe('received');
});

test('a flagged pre-alert that is moved stays flagged', async () => {
  const number = newNumber();
  const id = await parcels.announce('IEX', number);
  await parcels.announce('HRB', number);
  await parcels.receive(number);
  expect(await replace('iex', id, newNumber())).toBe('flagged');
});
