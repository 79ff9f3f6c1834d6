import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../../src/modules/packages/intake/house-number.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Row } from '../../../support/fixture/tables.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

const { IEX } = DEMO.couriers;

type Fields = Record<string, string | number | null>;

// Texts with the wildcards of ilike, and others that need a comparison without case.
export const AWKWARD: Fields[] = [
  '100% Wool',
  'a_b',
  'aXb',
  'back\\slash',
  'BACK\\SLASH',
  '%',
  '_',
  '\\',
  "O'Neil",
  'ÉTÉ',
  '50%_\\x',
].map((text, index) => ({
  courier_id: IEX,
  user_code: `IEX-${1001 + (index % 3)}`,
  shipper: text,
  first_name: text,
  last_name: `${text}z`,
  tracking_number: `${text}${index}`,
}));

export const idsOf = ({ data }: { data: { package_id: string }[] }): string[] =>
  data.map(({ package_id }) => package_id);

/** Calls and planted rows for tests of the list of packages. */
export function makePackageList({ api, db }: Fixture) {
  const taken = new Set<string>();

  /** Of 10,000 random ones, two are the same in one run of twenty. */
  function otherHouseNumber(): string {
    const number = newHouseNumber();
    if (taken.has(number)) return otherHouseNumber();
    taken.add(number);
    return number;
  }

  /** Inserts directly, because intake does not let a test choose the day. */
  async function addPackages(rows: Fields[]): Promise<string[]> {
    const full = rows.map((row) => {
      const number = String(row['tracking_number'] ?? randomUUID());
      const fixed = {
        tenant_id: DEMO.tenants.demo,
        id: randomUUID(),
        house_number: otherHouseNumber(),
        status: 'received',
      };
      const dates = { received_at: '2023-01-01T12:00:00Z', updated_at: '2023-01-01T12:00:00Z' };
      const rest = {
        tracking_number: number,
        tracking_key: number,
        weight_lb: 1,
        warehouse_id: DEMO.warehouses.primary,
      };
      return { ...fixed, ...dates, ...rest, ...row };
    });
    await db.query('insert into packages select * from jsonb_populate_recordset(null::packages, $1)', [
      JSON.stringify(full),
    ]);
    return full.map(({ id }) => id);
  }

  const list = (as: string, body?: object) => api.as(as).listPackages(unchecked(body)).ok();

  const rowsWhere = (condition: string) =>
    db.query<Row<'packages'>>(
      `select * from packages where tenant_id = '${DEMO.tenants.demo}' and ${condition} order by received_at desc, id desc`,
    );

  async function expectSelected(as: string, filters: object, condition: string) {
    const reply = await list(as, { limit: 10_000, ...filters });
    const expected = await rowsWhere(condition);
    expect(idsOf(reply)).toEqual(expected.map(({ id }) => id));
    expect(reply.meta.total_count).toBe(expected.length);
    return expected.length;
  }

  return { addPackages, list, rowsWhere, expectSelected };
}
