import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import Papa from 'papaparse';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../../src/modules/packages/intake/house-number.js';
import type { Api } from '../../../support/fixture/api.js';
import type { Db } from '../../../support/fixture/db.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { readWorkbook } from '../../../support/readers/workbook.js';

export const FORMATS = ['csv', 'xlsx'] as const;
export type Format = (typeof FORMATS)[number];

/** Exports packages by ListPackages. */
export const exportPackages = (api: Api, as: string, export_format: Format, filters: object = {}) =>
  api.as(as).listPackages(unchecked({ export: true, export_format, ...filters }));

/** Returns the file's rows as another program reads them, headings first and every cell as text. */
export function linesOf({ bytes }: { bytes: Buffer }, format: Format): string[][] {
  if (format === 'xlsx')
    return readWorkbook(bytes).map((row) => Array.from(row, (cell) => cell?.value ?? ''));
  const { data, errors } = Papa.parse<string[]>(bytes.toString(), { newline: '\r\n', delimiter: ',' });
  expect(errors).toEqual([]);
  // The last line ends with a line break too.
  expect(data.pop()).toEqual(['']);
  return data;
}

let serial = 0;

/** Inserts directly, because intake would reject most of these values. */
export async function insertPackage(db: Db, row: Record<string, unknown>): Promise<void> {
  const full = {
    tenant_id: DEMO.tenants.demo,
    id: randomUUID(),
    house_number: newHouseNumber(),
    status: 'received',
    weight_lb: 1,
    tracking_number: `EXPORT-${(serial += 1)}`,
    warehouse_id: DEMO.warehouses.primary,
    received_at: '2023-01-01T12:00:00Z',
    updated_at: '2023-01-01T12:00:00Z',
    ...row,
  };
  await db.query('insert into packages select * from jsonb_populate_record(null::packages, $1)', [
    JSON.stringify({ tracking_key: full.tracking_number, ...full }),
  ]);
}
