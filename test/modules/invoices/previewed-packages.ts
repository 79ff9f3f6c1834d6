import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import type { Fixture } from '../../support/fixture/with-service.js';

const { demo: DEMO_TENANT } = DEMO.tenants;

export const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

export const ZONES = ['UTC', 'America/Jamaica', 'Pacific/Kiritimati'];

export const MONTH = { start_date: '2024-05-01', end_date: '2024-05-31' };

export const ALL_DEMO = { start_date: '2020-01-01', end_date: '2099-12-31' };

type Tier = { start: string; end: string; fee: string };

type Parcel = {
  weight: string;
  receivedAt?: string;
  manifest?: string | null;
  userCode?: string | null;
  number?: string;
};

let houseNumbers = 0;

let manifests = 0;

export const IEX_TIERS = [
  { start: '0', end: '1', fee: '4.50' },
  { start: '1', end: '10', fee: '12.00' },
  { start: '10', end: '100', fee: '35.00' },
];

/** Calls and planted packages for tests of previews. */
export function makePreviews({ api, db }: Fixture) {
  const preview = (as: string, body: unknown) => api.as(as).previewCourierInvoice(unchecked(body));

  const insert = (table: string, rows: object[]) => {
    const columns = Object.keys(rows[0] ?? {}).join(', ');
    return db.query(
      `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(rows)],
    );
  };

  async function newCourier(airFreightRate = '0'): Promise<string> {
    const id = randomUUID();
    await insert('couriers', [
      {
        tenant_id: DEMO_TENANT,
        id,
        code: id.slice(0, 8),
        name: `Courier ${id}`,
        air_freight_rate: airFreightRate,
      },
    ]);
    return id;
  }

  const addTiers = (courierId: string, tiers: Tier[]) =>
    insert(
      'rate_tiers',
      tiers.map(({ start, end, fee }) => ({
        tenant_id: DEMO_TENANT,
        courier_id: courierId,
        start_weight_lb: start,
        end_weight_lb: end,
        fee_usd: fee,
      })),
    );

  async function addPackages(courierId: string, parcels: Parcel[]): Promise<string[]> {
    const rows = parcels.map(
      ({
        weight,
        receivedAt = '2024-05-15T12:00:00Z',
        manifest = null,
        userCode = 'X',
        number = randomUUID(),
      }) => ({
        tenant_id: DEMO_TENANT,
        id: randomUUID(),
        courier_id: courierId,
        user_code: userCode,
        manifest_id: manifest,
        tracking_number: number,
        tracking_key: number,
        house_number: `H${(houseNumbers += 1)}`,
        weight_lb: weight,
        warehouse_id: DEMO.warehouses.primary,
        received_at: receivedAt,
      }),
    );
    await insert('packages', rows);
    return rows.map(({ id }) => id);
  }
  async function newManifest(awbNumber: string | null): Promise<string> {
    const id = randomUUID();
    const manifest_number = `MAN-20240515-${String((manifests += 1)).padStart(4, '0')}`;
    const warehouse_id = DEMO.warehouses.primary;
    await insert('manifests', [
      { tenant_id: DEMO_TENANT, id, manifest_number, awb_number: awbNumber, warehouse_id },
    ]);
    return id;
  }

  return { preview, insert, newCourier, addPackages, addTiers, newManifest };
}
