import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { savedFile } from '../../../support/console/saved-file.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

const open = async (page: Page, query: Record<string, string> = {}) => {
  await page.goto(`${service().url}/console/parcels?${new URLSearchParams(query).toString()}`);
};
const rows = (page: Page) => page.locator('.grid tbody tr');
const total = (page: Page) => page.getByTestId('list-total');
const toasts = (page: Page) => page.getByTestId('toasts');

async function count(where: string, values: unknown[] = []): Promise<number> {
  const { rows: found } = await service().owner.query<{ count: number }>(
    `select count(*)::int as count from packages where tenant_id = $1 and ${where}`,
    [DEMO.tenants.demo, ...values],
  );
  return found[0]?.count ?? 0;
}

const statuses = async (ids: readonly string[]): Promise<string[]> => {
  const { rows: found } = await service().owner.query<{ status: string }>(
    'select status from packages where tenant_id = $1 and id = any($2) order by id',
    [DEMO.tenants.demo, ids],
  );
  return found.map(({ status }) => status);
};

const houseOf = async (id: string | undefined): Promise<string> => {
  const { rows: found } = await service().owner.query<{ house: string }>(
    'select house_number as house from packages where tenant_id = $1 and id = $2',
    [DEMO.tenants.demo, id],
  );
  return found[0]?.house ?? '';
};

const manifestNumber = async (): Promise<string> => {
  const { rows: found } = await service().owner.query<{ number: string }>(
    'select manifest_number as number from manifests where tenant_id = $1 and id = $2',
    [DEMO.tenants.demo, DEMO.manifests.draft],
  );
  return found[0]?.number ?? '';
};

/** Selects the only parcel with each house number, one after the other, in a list of its courier's parcels. */
async function select(page: Page, ids: readonly string[]): Promise<void> {
  for (const id of ids) await page.getByLabel(`Select ${await houseOf(id)}`).check();
}

describe('a filter', () => {
  it(
    'finds what the service finds, and is in the address',
    async (page) => {
      const draft = await manifestNumber();
      const cases: [Record<string, string>, number][] = [
        [{ owner: 'none' }, await count('courier_id is null')],
        [{ owner: 'courier' }, await count('courier_id is not null and user_code is null')],
        [{ status: 'shipped' }, await count(`status = 'shipped'`)],
        [{ manifest: draft }, await count('manifest_id = $2', [DEMO.manifests.draft])],
        [{ on_manifest: 'true' }, await count('manifest_id is not null')],
        [
          { courier: DEMO.couriers.HRB, age: '30' },
          await count(
            `courier_id = $2 and status = 'received' and received_at <= now() - interval '30 days'`,
            [DEMO.couriers.HRB],
          ),
        ],
        [{ changed: '2020-01-01' }, await count('true')],
      ];
      for (const [query, expected] of cases) {
        expect(expected).toBeGreaterThan(0);
        await open(page, query);
        await total(page).getByText(`Records: ${expected}`).waitFor();
      }
    },
    'manager',
  );

  it(
    'by status takes several, and the chip removes them',
    async (page) => {
      await open(page);
      await page.getByRole('group', { name: 'Status' }).locator('summary').click();
      await page.getByLabel('Shipped', { exact: true }).check();
      await page.waitForURL(/status=shipped/);
      await page.getByLabel('On hold', { exact: true }).check();
      await page.waitForURL(/status=shipped%2Con_hold/);
      const expected = await count(`status in ('shipped', 'on_hold')`);
      await total(page).getByText(`Records: ${expected}`).waitFor();
      await page.getByRole('button', { name: /Status: Shipped, On hold/ }).click();
      await total(page)
        .getByText(`Records: ${await count('true')}`)
        .waitFor();
    },
    'manager',
  );

  it(
    'that cannot be searched for says what to change',
    async (page) => {
      await open(page, { billed: 'false' });
      await page.getByRole('alert').getByText('also choose the first day of receipt').waitFor();
      await open(page, { manifest: 'MAN-NONE' });
      await page.getByRole('alert').getByText('No manifest has the number MAN-NONE.').waitFor();
      await open(page, { search: 'ab' });
      await page.getByRole('alert').getByText('Type at least three characters.').waitFor();
    },
    'manager',
  );
});

describe('selected parcels', () => {
  it(
    'are put on hold after the effect was named, and the undo releases exactly those',
    async (page) => {
      const ids = DEMO.packages.available.IEX.slice(0, 2);
      await open(page, { courier: DEMO.couriers.IEX });
      await select(page, ids);
      await page.getByRole('button', { name: 'Put on hold' }).click();
      const dialog = page.getByRole('dialog', { name: 'Put on hold' });
      await dialog.getByText('does not leave, until it is released').waitFor();
      await dialog.getByLabel(/^Remark/).fill('The invoice is missing.');
      await dialog.getByRole('button', { name: 'Put on hold (2)' }).click();
      await toasts(page).getByText('Parcels changed: 2.').waitFor();
      expect(await statuses(ids)).toEqual(['on_hold', 'on_hold']);
      await toasts(page).getByRole('button', { name: 'Undo' }).click();
      await toasts(page).getByText('Undone.').waitFor();
      expect(await statuses(ids)).toEqual(['received', 'received']);
    },
    'manager',
  );

  it(
    'are added to a manifest, and the undo takes them off',
    async (page) => {
      const ids = DEMO.packages.available.HRB.slice(0, 2);
      const aboard = () => count('manifest_id = $2 and id = any($3)', [DEMO.manifests.draft, ids]);
      await open(page, { courier: DEMO.couriers.HRB });
      await select(page, ids);
      await page.getByRole('button', { name: 'Add to a manifest' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add to a manifest' });
      await dialog.getByRole('combobox', { name: 'Manifest' }).selectOption(DEMO.manifests.draft);
      await dialog.getByRole('button', { name: 'Add to a manifest (2)' }).click();
      await toasts(page)
        .getByText(`Added to ${await manifestNumber()}: 2.`)
        .waitFor();
      expect(await aboard()).toBe(2);
      await toasts(page).getByRole('button', { name: 'Undo' }).click();
      await toasts(page).getByText('Undone.').waitFor();
      expect(await aboard()).toBe(0);
    },
    'manager',
  );

  it(
    'have their labels printed at a station, which says that no printer is there',
    async (page) => {
      const ids = DEMO.packages.available.IEX.slice(0, 2);
      await open(page, { courier: DEMO.couriers.IEX });
      await select(page, ids);
      await page.getByRole('button', { name: 'Print labels' }).click();
      const dialog = page.getByRole('dialog', { name: 'Print labels' });
      await dialog.getByLabel('Station').fill('belt-9');
      await dialog.getByText('No printer is connected at belt-9.').waitFor();
      await dialog.getByRole('button', { name: 'Print labels (2)' }).click();
      await toasts(page).getByText('Labels sent to belt-9: 2.').waitFor();
      const { body } = await service().call('listLabelJobs', { as: 'manager', query: { station: 'belt-9' } });
      expect(body['data'].map((job: { package_id: string }) => job.package_id).sort()).toEqual(
        [...ids].sort(),
      );
    },
    'manager',
  );

  it(
    'are sent to their couriers again after a question, which says what is not sent',
    async (page) => {
      await open(page, { courier: DEMO.couriers.IEX });
      await select(page, DEMO.packages.available.IEX.slice(2, 3));
      await page.getByRole('button', { name: 'Send to the courier again' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send to the courier again' });
      await dialog.getByText('This cannot be taken back.').waitFor();
      await dialog.getByRole('button', { name: 'Send to the courier again (1)' }).click();
      await toasts(page)
        .getByText(/^Waiting to be sent: \d/)
        .waitFor();
      const { body } = await service().call('listDispatches', { as: 'manager' });
      expect(body['data'][0]).toMatchObject({ total_selected: 1 });
    },
    'manager',
  );
});

describe('the export', () => {
  const save = async (page: Page, format: string) => {
    const dialog = page.getByRole('dialog', { name: 'Export all that match' });
    await dialog.getByRole('combobox', { name: 'Format' }).selectOption({ label: format });
    const { name, bytes } = await savedFile(page, () =>
      dialog.getByRole('button', { name: 'Save the file' }).click(),
    );
    return { name, content: bytes };
  };

  it(
    'has all parcels that match, not only those of the page, as CSV and as XLSX',
    async (page) => {
      const expected = await count('courier_id = $2', [DEMO.couriers.HRB]);
      expect(expected).toBeGreaterThan(50);
      await open(page, { courier: DEMO.couriers.HRB });
      await rows(page).first().waitFor();
      await page.getByRole('button', { name: 'Export all that match' }).click();
      const csv = await save(page, 'CSV');
      expect(csv.name).toBe('packages.csv');
      expect(csv.content.toString('utf8').trimEnd().split('\r\n')).toHaveLength(expected + 1);
      await page.getByRole('button', { name: 'Export all that match' }).click();
      const xlsx = await save(page, 'Excel (XLSX)');
      expect([xlsx.name, xlsx.content.subarray(0, 2).toString('latin1')]).toEqual(['packages.xlsx', 'PK']);
    },
    'manager',
  );

  it(
    'of several statuses and another order is one file of what is shown, in its order',
    async (page) => {
      await open(page, { status: 'delivered,shipped', sort: 'weight' });
      await rows(page).first().waitFor();
      await page.getByRole('button', { name: 'Export all that match' }).click();
      const { name, content } = await save(page, 'CSV');
      expect(name).toBe('packages.csv');
      const { rows: expected } = await service().owner.query<{ house: string }>(
        `select house_number as house from packages where tenant_id = $1 and status in ('shipped', 'delivered') order by weight_lb, id`,
        [DEMO.tenants.demo],
      );
      const [, ...lines] = content.toString('utf8').trimEnd().split('\r\n');
      expect(expected.length).toBeGreaterThan(1);
      for (const [index, { house }] of expected.entries()) expect(lines[index]).toContain(house);
      expect(lines).toHaveLength(expected.length);
    },
    'manager',
  );
});
