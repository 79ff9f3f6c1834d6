import type { Page } from 'playwright-core';
import { makeBilling } from '../../../support/builders/billing.js';
import type { Service } from '../../../support/service/service.js';

/** A step drafts 25, so that a run of all has more than one. */
export const COURIERS = 28;
/** Two parcels of 5 lb, 12.00 USD each, and 7.5 percent tax. */
export const EACH = 25.8;

/** The month so many months before this one, in UTC. */
export const monthBefore = (months: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)).toISOString().slice(0, 7);
};

export const money = (value: number) =>
  new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value);

type Listed = {
  data: {
    unbilled_packages: number;
    unbilled_amount: number;
    drafts: { bills: number };
    sent_bills: number;
    unsent_bills: number;
    warnings: { code: string }[];
  }[];
  meta: { total_records: number; totals: { drafts: { bills: number; amount: number } } };
};

export const dialogOf = (page: Page, name: RegExp) => page.getByRole('dialog', { name });
export const result = (page: Page) => page.getByTestId('run');

/** Opens the dialog of all drafts, and fills it in. */
export async function draftAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Draft all' }).click();
  const dialog = dialogOf(page, /^Draft /);
  await dialog.getByLabel('Service').fill('Air standard');
  await dialog.getByRole('button', { name: /^Draft bills: / }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Builders and readers for the page of the billing run. */
export function makeRunPage(service: () => Service) {
  /** Creates couriers with two parcels each in a month. */
  async function couriersIn(month: string, many = COURIERS): Promise<string[]> {
    const billing = makeBilling(service());
    const ids: string[] = [];
    for (let index = 0; index < many; index += 1) {
      const id = await billing.newCourier();
      const parcel = { weight: '5', receivedAt: `${month}-15T12:00:00Z` };
      await billing.addPackages(id, [parcel, parcel]);
      ids.push(id);
    }
    return ids;
  }

  async function billsIn(month: string, couriers: string[]) {
    const { rows } = await service().owner.query<{ status: string; usd: number; packages: number }>(
      `select status, total_amount::float as usd, total_packages as packages from bills
       where courier_id = any($1) and to_char(end_date, 'YYYY-MM') = $2`,
      [couriers, month],
    );
    return rows;
  }

  async function totals(month: string): Promise<Listed> {
    const { body } = await service().call('listBillingRun', { as: 'manager', query: { month, limit: 100 } });
    return body as unknown as Listed;
  }

  /** What `send` has to do in a month, by the list of the service. */
  async function toSend(month: string) {
    const { data: rows } = await totals(month);
    const isWithout = ({ warnings }: Listed['data'][number]) =>
      warnings.map(({ code }) => code).includes('address_missing');
    const due = rows.filter((row) => row.unsent_bills > 0 && !isWithout(row));
    return {
      couriers: due.length,
      bills: due.reduce((sum, { unsent_bills: many }) => sum + many, 0),
      without: rows.filter(isWithout).length,
      sent: rows.reduce((sum, { sent_bills: many }) => sum + many, 0),
    };
  }

  /** The couriers, of these, to which a bill was mailed, one entry per mail. */
  async function mailedOf(couriers: string[]): Promise<string[]> {
    const { rows } = await service().owner.query<{ id: string }>(
      'select courier_id as id from bill_mails where courier_id = any($1) order by courier_id',
      [couriers],
    );
    return rows.map(({ id }) => id);
  }

  async function open(page: Page, month: string): Promise<void> {
    await page.goto(`${service().url}/console/bills/run?month=${month}`);
    await page.getByRole('table', { name: 'Billing run' }).waitFor();
  }

  return { couriersIn, billsIn, totals, toSend, mailedOf, open };
}
