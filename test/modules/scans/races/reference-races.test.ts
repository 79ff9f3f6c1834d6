import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { rounds } from '../../../support/harness/effort.js';
import { changeMeanwhile } from '../../../support/harness/meanwhile.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';
import { startService, untilAdmitted, type Reply, type Service } from '../../../support/service/service.js';

// A record that a scan of a batch names, and that is deleted or changed meanwhile, refuses at most that scan.

const ROUNDS = rounds(12, 60);
const CALLERS = rounds(100, 300);

let service: Service;
let serial = 0;

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
}, 60_000);

afterAll(() => service.stop(), 60_000);

async function makeCarrier(): Promise<string> {
  const body = { action: 'create', name: `Carrier ${(serial += 1)}` };
  return String((await service.call('manageCarriers', { as: 'manager', body })).body['data'].carrier_id);
}

async function makeWarehouse(): Promise<string> {
  const body = { action: 'create', name: `Warehouse ${(serial += 1)}` };
  return String((await service.call('manageWarehouses', { as: 'manager', body })).body['data'].warehouse_id);
}

async function makeCustomer(): Promise<{ id: string; code: string }> {
  const code = `NAMED-${(serial += 1)}`;
  const body = { user_code: code, first_name: 'First', last_name: 'Last' };
  const reply = await service.call('createCustomer', { as: 'iex', body });
  return { id: String(reply.body['data'].id), code };
}

const receipt = (fields: object = {}) => deviceScan('receive', newNumber(), 5, { weight: 1, ...fields });

describe('a batch of receive scans, one of which names a record that is deleted meanwhile', () => {
  test.each([
    ['carrier', makeCarrier, 'carriers', 'carrier_id'],
    ['warehouse', makeWarehouse, 'warehouses', 'warehouse_id'],
  ] as const)('refuses only that scan: %s', async (_name, make, table, field) => {
    const id = await make();
    const scans = [receipt(), receipt({ [field]: id }), receipt()];
    const { done, refused, results } = await changeMeanwhile(
      service.owner,
      { text: `delete from ${table} where id = $1`, values: [id] },
      () => sendScans(service, scans),
    );
    expect({ done, refused }).toEqual({ done: 2, refused: 1 });
    expect(results[1]).toMatchObject({ result: 'refused', reason: 'invalid', errors: [{ field }] });
  });

  test(`stores the others, or all and keeps the carrier, in ${ROUNDS} batches of 31`, async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const carrier_id = await makeCarrier();
      const scans = [...Array.from({ length: 30 }, () => receipt()), receipt({ carrier_id })];
      const body = { action: 'delete', carrier_id };
      const remove = () => untilAdmitted(() => service.call('manageCarriers', { as: 'manager', body }));
      // Every other round starts the deletion first.
      const early = round % 2 ? remove() : undefined;
      const [batch, deleted] = await Promise.all([sendScans(service, scans), early ?? remove()]);
      outcomes.add(`${batch.done} done, deletion ${deleted.status}`);
    }
    expect([...outcomes].filter((each) => !EXPECTED.includes(each))).toEqual([]);
  }, 240_000);
});

const EXPECTED = ['30 done, deletion 200', '31 done, deletion 400'];

describe('a batch of receive scans, whose customer is changed meanwhile', () => {
  test.each([
    ['renamed', (code: string) => ({ user_code: `${code}-NEW` })],
    ['deactivated', () => ({ is_active: 0 })],
  ] as const)(
    'stores or refuses each scan, and never the whole batch: %s',
    async (_name, change) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { id, code } = await makeCustomer();
        const scans = Array.from({ length: 24 }, () =>
          receipt({ user_code: code, courier_id: DEMO.couriers.IEX }),
        );
        const [{ done, refused }] = await Promise.all([
          sendScans(service, scans),
          untilAdmitted(() =>
            service.call('updateCustomer', {
              as: 'iex',
              body: { courier_customer_id: id, ...change(code) },
            }),
          ),
        ]);
        expect(done + refused).toBe(24);
        expect([0, 24]).toContain(refused);
      }
    },
    240_000,
  );
});

test(`of ${CALLERS} batches that use one scan_id for different parcels at once, one stores it, and all store their other scans`, async () => {
  const { scan_id } = receipt();
  const batches = await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      const scans = [receipt(), { ...receipt(), scan_id }, receipt()];
      // Without untilAdmitted, which would also repeat what the service must repeat itself.
      const send = (): Promise<Reply> =>
        service.call('sendScans', { as: 'warehouse', body: { station: 'Dock 1', scans } });
      let reply = await send();
      while (reply.body['code'] === 'overloaded') reply = await send();
      return reply.body['data'] ?? reply.body;
    }),
  );
  const outcomes = batches.map(({ done, refused, results }) => [done, refused, results?.[1].reason]);
  const isWinner = ([done]: unknown[]) => done === 3;
  expect(outcomes.filter(isWinner)).toEqual([[3, 0, null]]);
  const others = outcomes.filter((outcome) => !isWinner(outcome));
  expect(others).toEqual(Array.from({ length: CALLERS - 1 }, () => [2, 1, 'id_reused']));
}, 120_000);

test('a batch, whose customer is deactivated after the check of its references, is stored', async () => {
  const { id, code } = await makeCustomer();
  const known = newNumber();
  const { results } = await sendScans(service, [deviceScan('receive', known, 9, { weight: 1 })]);
  // The batch waits for the package of its first scan. Until then it has checked the references, and received nothing.
  const change = {
    text: `with deactivated as (update customers set is_active = false where id = $1 returning id)
      update packages set shipper = 'Shop' where id = $2 and exists (select from deactivated)`,
    values: [id, results[0].parcel.package_id],
  };
  const scans = [deviceScan('locate', known, 5, { location: 'Shelf 1' }), receipt({ user_code: code })];
  const batch = await changeMeanwhile(service.owner, change, () => sendScans(service, scans));
  expect(batch).toMatchObject({ done: 2, refused: 0 });
  expect(batch.results[1].parcel).toMatchObject({ user_code: code });
});

test('a late receipt names a carrier that is deleted meanwhile: the package gets no carrier', async () => {
  const carrier_id = await makeCarrier();
  const number = newNumber();
  await sendScans(service, [deviceScan('receive', number, 5, { weight: 1 })]);
  const late = deviceScan('receive', number, 600, { weight: 2, carrier_id });
  const { results } = await changeMeanwhile(
    service.owner,
    { text: 'delete from carriers where id = $1', values: [carrier_id] },
    () => sendScans(service, [late]),
  );
  expect(results).toMatchObject([{ result: 'refused', errors: [{ field: 'carrier_id' }] }]);
});
