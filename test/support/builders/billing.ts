import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { untilAdmitted, type Reply, type Service } from '../service/service.js';

const TENANT = DEMO.tenants.demo;

type Tier = { start: string; end: string; fee: string };

const TIERS: Tier[] = [
  { start: '0', end: '1', fee: '4.50' },
  { start: '1', end: '10', fee: '12.00' },
  { start: '10', end: '100', fee: '35.00' },
];

export type Parcel = {
  weight: string;
  receivedAt?: string;
  manifest?: string | null;
  userCode?: string | null;
};

let serial = 0;

/** Builders and API calls for tests of bills. */
export function makeBilling(service: Service) {
  const insert = (table: string, rows: object[]) => {
    const columns = Object.keys(rows[0] ?? {}).join(', ');
    return service.owner.query(
      `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(rows)],
    );
  };

  const manage = (body: object, as = 'manager'): Promise<Reply> =>
    untilAdmitted(() => service.call('manageCourierBills', { as, body }));

  return {
    insert,
    manage,

    /** Creates a courier with its own tiers. */
    async newCourier(airFreightRate = '0', tiers = TIERS): Promise<string> {
      const id = randomUUID();
      const air_freight_rate = airFreightRate;
      const name = `Courier ${id}`;
      await insert('couriers', [{ tenant_id: TENANT, id, code: id.slice(0, 8), name, air_freight_rate }]);
      const own = { tenant_id: TENANT, courier_id: id };
      if (tiers.length > 0)
        await insert(
          'rate_tiers',
          tiers.map(({ start, end, fee }) => ({
            ...own,
            ...{ start_weight_lb: start, end_weight_lb: end, fee_usd: fee },
          })),
        );
      return id;
    },

    /** Inserts packages, received in May 2024 by default. Returns their ids. */
    async addPackages(courierId: string, parcels: Parcel[]): Promise<string[]> {
      const rows = parcels.map(
        ({ weight, receivedAt = '2024-05-15T12:00:00Z', manifest = null, userCode = 'X' }) => {
          const number = `BILL-${process.pid}-${(serial += 1)}`;
          return {
            ...{ tenant_id: TENANT, id: randomUUID(), courier_id: courierId, user_code: userCode },
            ...{ manifest_id: manifest, tracking_number: number, tracking_key: number, house_number: number },
            ...{ weight_lb: weight, warehouse_id: DEMO.warehouses.primary, received_at: receivedAt },
          };
        },
      );
      await insert('packages', rows);
      return rows.map(({ id }) => id);
    },

    async newManifest(awbNumber: string | null): Promise<string> {
      const id = randomUUID();
      const manifest_number = `MAN-20240515-${(serial += 1).toString(36).toUpperCase().padStart(4, '0')}`;
      const warehouse_id = DEMO.warehouses.primary;
      const row = { tenant_id: TENANT, id, manifest_number, awb_number: awbNumber, warehouse_id };
      await insert('manifests', [row]);
      return id;
    },

    draft: (courierId: string, extra: object = {}, as?: string) =>
      manage({ action: 'create_draft', courier_id: courierId, ...MAY, service_type: 'Air', ...extra }, as),
    adjust: (billId: string, amount: number, description = 'Storage') =>
      manage({ action: 'add_adjustment', bill_id: billId, amount, description }),
    unadjust: (lineId: string) => manage({ action: 'remove_adjustment', line_id: lineId }),
    publish: (billId: string) => manage({ action: 'publish', bill_id: billId }),
    pay: (billId: string, amount: number, extra: object = {}) =>
      manage({ action: 'record_payment', bill_id: billId, amount, method: 'cash', ...extra }),
    unpay: (paymentId: string, reason = 'It bounced.') =>
      manage({ action: 'void_payment', payment_id: paymentId, reason }),
    remove: (billId: string) => manage({ action: 'delete_draft', bill_id: billId }),

    read: (billId: string, as = 'manager', query: Record<string, number> = {}) =>
      service.call('getCourierBill', { as, query: { bill_id: billId, ...query } }),

    async rows<Row = Record<string, unknown>>(statement: string, values: unknown[] = []): Promise<Row[]> {
      return (await service.owner.query(statement, values)).rows as Row[];
    },
  };
}

export type Billing = ReturnType<typeof makeBilling>;

export const MAY = { start_date: '2024-05-01', end_date: '2024-05-31' };

/** Drafts a bill of one package for 12.00 USD, plus an adjustment of `more`. Returns its id. */
export async function newBill(billing: Billing, courierId: string, more = 0): Promise<string> {
  await billing.addPackages(courierId, [{ weight: '5' }]);
  const billId: string = (await billing.draft(courierId)).body['data'].bill_id;
  if (more !== 0) await billing.adjust(billId, more);
  return billId;
}

/** Returns the number of responses per status and code. */
export function tally(replies: Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const key = body['code'] ? `${status} ${body['code']}` : String(status);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
