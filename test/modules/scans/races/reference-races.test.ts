import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { rounds } from '../../../support/harness/effort.js';
import { changeMeanwhile, whileUnwritable } from '../../../support/harness/meanwhile.js';
import {
  deviceScan,
  receivedParcel,
  sendScan,
  sendScans,
  type SentScans,
} from '../../../support/scans/device-scans.js';
import { newWarehouse } from '../../../support/manifests/manifest-calls.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// A record that a scan of a batch names, and that is deleted or changed meanwhile, refuses at most that scan.

const ROUNDS = rounds(12, 60);
const CALLERS = rounds(100, 300);

const { api, service } = withService({ poolSize: 20 });
const manager = api.as('manager');
const iex = api.as('iex');
let serial = 0;

async function makeCarrier(): Promise<string> {
  const name = `Carrier ${(serial += 1)}`;
  return (await manager.manageCarriers({ action: 'create', name }).succeeded()).data.carrier_id;
}

async function makeCustomer(): Promise<{ id: string; code: string }> {
  const code = `NAMED-${(serial += 1)}`;
  const customer = { user_code: code, first_name: 'First', last_name: 'Last' };
  return { id: (await iex.createCustomer(customer).ok()).data.id, code };
}

const receipt = (fields: object = {}) => deviceScan('receive', newNumber(), 5, { weight: 1, ...fields });

describe('a batch of receive scans, one of which names a record that is deleted meanwhile', () => {
  test.each([
    ['carrier', makeCarrier, 'carriers', 'carrier_id'],
    ['warehouse', () => newWarehouse(api, false), 'warehouses', 'warehouse_id'],
  ] as const)('refuses only that scan: %s', async (_name, make, table, field) => {
    const id = await make();
    const scans = [receipt(), receipt({ [field]: id }), receipt()];
    const { done, refused, results } = await changeMeanwhile(
      service().owner,
      { text: `delete from ${table} where id = $1`, values: [id] },
      () => sendScans(api, scans),
    );
    expect({ done, refused }).toEqual({ done: 2, refused: 1 });
    expect(results[1]).toMatchObject({ result: 'refused', reason: 'invalid', errors: [{ field }] });
  });

  test(`stores the others, or all and keeps the carrier, in ${ROUNDS} batches of 31`, async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const carrier_id = await makeCarrier();
      const scans = [...Array.from({ length: 30 }, () => receipt()), receipt({ carrier_id })];
      const remove = () =>
        untilAdmitted(() => manager.manageCarriers({ action: 'delete', carrier_id }).answer());
      // Every other round starts the deletion first.
      const early = round % 2 ? remove() : undefined;
      const [batch, deleted] = await Promise.all([sendScans(api, scans), early ?? remove()]);
      outcomes.add(`${batch.done} done, deletion ${deleted.status}`);
    }
    expect([...outcomes].filter((each) => !EXPECTED.includes(each))).toEqual([]);
  }, 240_000);
});

const EXPECTED = ['30 done, deletion 200', '31 done, deletion 400'];

describe('a batch of receive scans, whose customer is changed meanwhile', () => {
  test.each([
    ['renamed', (code: string) => ({ user_code: `${code}-NEW` })],
    ['deactivated', () => ({ is_active: 0 as const })],
  ] as const)(
    'stores or refuses each scan, and never the whole batch: %s',
    async (_name, change) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { id, code } = await makeCustomer();
        const scans = Array.from({ length: 24 }, () =>
          receipt({ user_code: code, courier_id: DEMO.couriers.IEX }),
        );
        const [{ done, refused }] = await Promise.all([
          sendScans(api, scans),
          untilAdmitted(() => iex.updateCustomer({ courier_customer_id: id, ...change(code) }).answer()),
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
      const send = () =>
        api
          .as('warehouse')
          .sendScans(unchecked({ station: 'Dock 1', scans }))
          .answer();
      let reply = await send();
      while (reply.code === 'overloaded') {
        await sleep(500);
        reply = await send();
      }
      return reply;
    }),
  );
  // A failure has no data, and shows its code.
  const outcomes = batches.map(({ code, data }: { code: unknown; data?: SentScans }) =>
    data ? [data.done, data.refused, data.results[1]?.reason] : [code],
  );
  const isWinner = ([done]: unknown[]) => done === 3;
  expect(outcomes.filter(isWinner)).toEqual([[3, 0, null]]);
  const others = outcomes.filter((outcome) => !isWinner(outcome));
  expect(others).toEqual(Array.from({ length: CALLERS - 1 }, () => [2, 1, 'id_reused']));
}, 120_000);

test('of 4 scans that use one scan_id for different parcels and are written at once, one is stored', async () => {
  const { scan_id } = receipt();
  // Single scans of a tenant do not wait for each other's batches.
  const results = await whileUnwritable(service().owner, { table: 'scans', waiting: 4 }, () =>
    Promise.all(Array.from({ length: 4 }, () => sendScan(api, { ...receipt(), scan_id }))),
  );
  const reasons = results.map(({ result, reason }) => reason ?? result).sort();
  expect(reasons).toEqual(['done', 'id_reused', 'id_reused', 'id_reused']);
});

test('a batch, whose customer is deactivated after the check of its references, is stored', async () => {
  const { id, code } = await makeCustomer();
  const known = newNumber();
  const stored = receivedParcel(await sendScan(api, deviceScan('receive', known, 9, { weight: 1 })));
  // The batch waits for the package of its first scan. Until then it has checked the references, and received nothing.
  const change = {
    text: `with deactivated as (update customers set is_active = false where id = $1 returning id)
      update packages set shipper = 'Shop' where id = $2 and exists (select from deactivated)`,
    values: [id, stored.package_id],
  };
  const scans = [deviceScan('locate', known, 5, { location: 'Shelf 1' }), receipt({ user_code: code })];
  const batch = await changeMeanwhile(service().owner, change, () => sendScans(api, scans));
  expect(batch).toMatchObject({ done: 2, refused: 0 });
  expect(batch.results[1]?.parcel).toMatchObject({ user_code: code });
});

test('a late receipt names a carrier that is deleted meanwhile: the package gets no carrier', async () => {
  const carrier_id = await makeCarrier();
  const number = newNumber();
  await sendScan(api, deviceScan('receive', number, 5, { weight: 1 }));
  const late = deviceScan('receive', number, 600, { weight: 2, carrier_id });
  const deletion = { text: 'delete from carriers where id = $1', values: [carrier_id] };
  const result = await changeMeanwhile(service().owner, deletion, () => sendScan(api, late));
  expect(result).toMatchObject({ result: 'refused', errors: [{ field: 'carrier_id' }] });
});
