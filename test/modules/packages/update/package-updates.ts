import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../../src/modules/packages/intake/house-number.js';
import { eventsOf, waitingJobs } from '../../../support/receivers/outbound.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

const { IEX } = DEMO.couriers;

export const TENANT = DEMO.tenants.demo;

export type Row = Record<string, unknown>;

type Parcel = Record<string, string | number | null>;

let serial = 0;

export const freshNumber = () => `UPD${process.pid}N${(serial += 1)}`;

export const NO_TRACES = { audited: [], syncs: [], webhookEvents: [], deliveryJobs: [] };

export const deliveryJobOf = (courierId: string) => ({
  tenantId: TENANT,
  courierId,
  endpoint: 'update_package',
});

/** Calls, planted packages and stored rows for tests of updates. */
export function makeUpdates({ api, service }: Fixture) {
  const update = (as: string, package_id: string, fields: object = {}) =>
    api.as(as).updatePackage({ package_id, ...fields });

  const select = async (statement: string, values: unknown[] = []) =>
    (await service().owner.query<Row>(statement, values)).rows;

  /** Inserts a package of IEX-1001 directly, with the given columns changed. */
  async function addPackage(row: Parcel = {}): Promise<string> {
    const id = randomUUID();
    const number = String(row['tracking_number'] ?? freshNumber());
    const full = {
      tenant_id: TENANT,
      id,
      courier_id: IEX,
      user_code: 'IEX-1001',
      first_name: 'Ann',
      last_name: 'Lee',
      tracking_number: number,
      tracking_key: number,
      house_number: newHouseNumber(),
      weight_lb: 4.25,
      length_in: 10,
      width_in: 5.5,
      height_in: null,
      package_type: 'box',
      shipper: 'Books',
      description: null,
      status: 'received',
      warehouse_id: DEMO.warehouses.primary,
      received_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
      ...row,
    };
    await service().owner.query(
      'insert into packages select * from jsonb_populate_record(null::packages, $1)',
      [JSON.stringify(full)],
    );
    return id;
  }

  async function rowOf(id: string): Promise<Row> {
    const [row] = await select('select * from packages where id = $1', [id]);
    return row ?? {};
  }

  /** Returns what an update writes apart from the row. */
  const tracesOf = async (id: string) => ({
    audited: await select(
      "select * from audit_entries where entity_id = $1 and action = 'package.updated' order by id",
      [id],
    ),
    syncs: await select('select * from package_syncs where package_id = $1', [id]),
    // The event is recorded when the synchronisation is sent.
    webhookEvents: await eventsOf(service().owner, [id]),
    deliveryJobs: await waitingJobs(service().owner, 'deliver'),
  });

  return { update, select, addPackage, rowOf, tracesOf };
}
