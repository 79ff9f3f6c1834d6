import type { Config } from '../../../../src/config/config.js';
import type { Bench, Row } from '../measure.js';
import * as bills from './bill-rows.js';
import * as customers from './customer-rows.js';
import { floodRow } from './flood-rows.js';
import * as logs from './log-rows.js';
import { addPackagesRow, getManifestRow, listManifestsRow } from './manifest-rows.js';
import * as packages from './package-rows.js';
import { listPrealertsRow, submitLinesRow, submitRow } from './prealert-rows.js';
import {
  manifestLoadingRow,
  receiveBesideScansRow,
  resolveScanRow,
  sendScanRow,
  sendScansRow,
} from './scan-rows.js';
import { deliverRow } from './webhook-rows.js';

export type PlannedRow = { name: string; run: () => Promise<Row> };

/** Returns all rows of the bench in order: every operation that a user or a partner's program waits for. */
export function planRows(config: Config, bench: Bench, print: (line: string) => void): PlannedRow[] {
  const { small, large } = bench;
  const planned: [string, () => Promise<Row>][] = [
    ['submit a pre-alert', () => submitRow(config, bench)],
    ['submit lines', () => submitLinesRow(bench)],
    ['receive', () => packages.receiveRow(bench, large)],
    ['update', () => packages.updateRow(bench, large)],
    ['record an event', () => packages.recordEventRow(bench, large)],
    ['record events', () => packages.recordEventsRow(bench, large)],
    ['resolve a scan', () => resolveScanRow(bench, large)],
    ['receive by scan', () => sendScanRow(bench, large)],
    ['send scans', () => sendScansRow(bench, large)],
    ['receive beside 500 scans', () => receiveBesideScansRow(bench, large, 500)],
    ['receive beside 100 scans', () => receiveBesideScansRow(bench, large, 100)],
    ['add packages', () => addPackagesRow(bench, large)],
    ['list pre-alerts 10k', () => listPrealertsRow(bench, small)],
    ['list pre-alerts 1M', () => listPrealertsRow(bench, large)],
    ['list customers 10k', () => customers.listCustomersRow(bench, small)],
    ['list customers 1M', () => customers.listCustomersRow(bench, large)],
    ['search customers', () => customers.searchCustomersRow(bench, large)],
    ['advanced search', () => customers.advancedSearchRow(bench, large)],
    ['list packages 10k', () => packages.listPackagesRow(bench, small)],
    ['list packages 1M', () => packages.listPackagesRow(bench, large)],
    ['package events', () => packages.packageEventsRow(bench, large)],
    ['GetManifest', () => getManifestRow(bench, small)],
    ['Manifests', () => listManifestsRow(bench, small)],
    ['ManifestLoading', () => manifestLoadingRow(bench, small)],
    ['label zpl', () => packages.labelRow(bench, large, 'zpl')],
    ['request a label', () => packages.labelJobRow(bench, large)],
    ['label pdf', () => packages.labelRow(bench, large, 'pdf')],
    ['export csv', () => packages.exportRow(bench, large, 'csv')],
    ['export xlsx', () => packages.exportRow(bench, large, 'xlsx')],
    ['invoice preview', () => bills.previewRow(bench, large)],
    ['bill draft', () => bills.draftRow(bench, large)],
    ['bill page', () => bills.billPageRow(bench, small)],
    ['bill pdf', () => bills.billPdfRow(bench, small)],
    ['statement', () => bills.statementRow(bench, large)],
    ['reconciliation', () => bills.reconciliationRow(bench, large)],
    ['upload customers', () => customers.uploadRow(bench, small)],
    ['deliver webhooks', () => deliverRow(bench, small)],
    ['list deliveries', () => logs.deliveriesRow(bench, small)],
    ['list events', () => logs.eventsRow(bench, small)],
    ['audit log', () => logs.auditRow(bench)],
    ['login flood', () => floodRow(bench, print)],
  ];
  return planned.map(([name, run]) => ({ name, run }));
}
