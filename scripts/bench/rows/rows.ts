import type { Config } from '../../../src/config/config.js';
import { advancedSearchRow, listCustomersRow, searchCustomersRow, uploadRow } from './customer-rows.js';
import { floodRow } from './flood-rows.js';
import { getManifestRow } from './manifest-rows.js';
import type { Bench, Row } from '../measure.js';
import { addPackagesRow, exportRow, listPackagesRow, previewRow } from './package-rows.js';
import { listPrealertsRow, submitLinesRow, submitRow } from './prealert-rows.js';
import { deliverRow } from './webhook-rows.js';

export type PlannedRow = { name: string; run: () => Promise<Row> };

/** Returns all rows of the bench in order. */
export function planRows(config: Config, bench: Bench, print: (line: string) => void): PlannedRow[] {
  const { small, large } = bench;
  const planned: [string, () => Promise<Row>][] = [
    ['submit a pre-alert', () => submitRow(config, bench)],
    ['submit lines', () => submitLinesRow(bench)],
    ['list pre-alerts 10k', () => listPrealertsRow(bench, small)],
    ['list pre-alerts 1M', () => listPrealertsRow(bench, large)],
    ['GetManifest', () => getManifestRow(bench, small)],
    ['list customers 10k', () => listCustomersRow(bench, small)],
    ['list customers 1M', () => listCustomersRow(bench, large)],
    ['search customers', () => searchCustomersRow(bench, large)],
    ['advanced search', () => advancedSearchRow(bench, large)],
    ['list packages 10k', () => listPackagesRow(bench, small)],
    ['list packages 1M', () => listPackagesRow(bench, large)],
    ['export csv', () => exportRow(bench, large, 'csv')],
    ['export xlsx', () => exportRow(bench, large, 'xlsx')],
    ['invoice preview', () => previewRow(bench, large)],
    ['add packages', () => addPackagesRow(bench, large)],
    ['upload customers', () => uploadRow(bench, small)],
    ['deliver webhooks', () => deliverRow(bench, small)],
    ['login flood', () => floodRow(bench, print)],
  ];
  return planned.map(([name, run]) => ({ name, run }));
}
