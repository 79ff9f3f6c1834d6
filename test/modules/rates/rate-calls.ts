import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import type { AuditRow } from '../../support/fixture/db.js';
import type { Fixture } from '../../support/fixture/with-service.js';

const { demo: DEMO_TENANT } = DEMO.tenants;

export const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

export type Tier = { id?: number; startweight: number; endweight: number; fee: number };

export const tier = (startweight: number, endweight: number, fee: number, id?: number): Tier =>
  id === undefined ? { startweight, endweight, fee } : { id, startweight, endweight, fee };

export const values = (rates: Tier[]) =>
  rates.map(({ startweight, endweight, fee }) => [startweight, endweight, fee]);

export const ids = (rates: { id: number }[]) => rates.map(({ id }) => id);

let couriers = 0;

export const GLOBAL = [
  [0, 5, 8],
  [5, 15, 15],
  [15, 50, 40],
];

/** Returns the fields that the errors of a refusal name. */
export const fieldsOf = ({ errors }: { errors: { field: string }[] }) => errors.map(({ field }) => field);

/** Calls and stored rows for tests of rates. */
export function makeRateCalls({ api, db }: Fixture) {
  const manage = (as: string, body: unknown) => api.as(as).manageCourierRates(unchecked(body));
  const save = (courier_id: string | null | undefined, rates: unknown, as = 'manager') =>
    manage(as, { action: 'save_rates', courier_id, rates });
  const read = async (courier_id?: string, as = 'manager') =>
    (await api.as(as).getCourierRates({ courier_id }).ok()).data;

  /** Returns the stored rows with decimals as text. */
  const stored = (courierId: string | null) =>
    db.query<{ id: number; start: string; end: string; fee: string }>(
      `select id, start_weight_lb::text as start, end_weight_lb::text as end, fee_usd::text as fee from rate_tiers
     where tenant_id = $1 and courier_id is not distinct from $2 order by start_weight_lb, end_weight_lb`,
      [DEMO_TENANT, courierId],
    );

  const auditOf = (entityId: string) =>
    db.query<AuditRow & { entity: string }>(
      `select action, entity, actor_id, before, after, request_id from audit_entries where entity_id = $1 order by id`,
      [entityId],
    );
  async function newCourier(rates: Tier[] = [], airFreightRate = '0'): Promise<string> {
    const id = randomUUID();
    await db.query(
      'insert into couriers (tenant_id, id, code, name, air_freight_rate) values ($1, $2, $3, $4, $5)',
      [DEMO_TENANT, id, `R${(couriers += 1)}`, `Courier ${couriers}`, airFreightRate],
    );
    if (rates.length > 0) await save(id, rates).ok();
    return id;
  }

  /** Asserts that `work` writes nothing. */
  async function expectNothingWritten(work: () => Promise<void>) {
    const before = await db.fingerprint();
    await work();
    expect(await db.fingerprint()).toEqual(before);
  }

  return { manage, save, read, stored, auditOf, newCourier, expectNothingWritten };
}
