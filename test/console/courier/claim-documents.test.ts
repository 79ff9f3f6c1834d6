import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, insertClaim, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { savedFile } from '../../support/console/saved-file.js';
import { png } from '../../support/readers/pictures.js';

// The documents that prove a claim: the courier adds them, and staff read them beside the parcel.

const { it, open: openWindow, runs, service } = consoleSuite();

const PDF = { name: 'receipt.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7\n%%EOF\n') };
const PICTURE = { name: 'label.png', mimeType: 'image/png', buffer: png() };
const TEXT = { name: 'receipt.pdf', mimeType: 'application/pdf', buffer: Buffer.from('A receipt') };

const open = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);
const fileField = (page: Page) => page.getByLabel('Add a receipt, an invoice or a picture of the label');

const downloaded = async (page: Page, name: RegExp) =>
  (await savedFile(page, () => page.getByRole('button', { name }).click())).bytes;

it(
  'a courier claims a parcel with a receipt, and adds a picture later',
  async (page) => {
    await service().owner.query("delete from courier_quotas where kind = 'claim_attempts'");
    const number = newNumber();
    await open(page, 'claims');
    await page.getByRole('button', { name: 'Claim a parcel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Whole tracking number').fill(number);
    await dialog.getByRole('combobox', { name: 'Customer' }).fill(CUSTOMERS.IEX);
    await dialog.getByRole('option', { name: CUSTOMERS.IEX }).click();
    await fileField(page).setInputFiles(TEXT);
    await dialog.getByRole('button', { name: 'Claim it' }).click();
    await dialog.getByText('The claim is stored, but the document is not:').waitFor();
    await fileField(page).setInputFiles(PDF);
    await dialog.getByRole('button', { name: 'Claim it' }).click();
    await page.getByTestId('toasts').getByText(`The claim of ${number} is stored`).waitFor();

    await page
      .getByRole('row')
      .filter({ hasText: number.slice(-8) })
      .getByRole('link')
      .click();
    expect(await downloaded(page, /^Document 1 \(PDF, 1 kB\)$/)).toEqual(PDF.buffer);
    await fileField(page).setInputFiles(PICTURE);
    expect(await downloaded(page, /^Document 2 \(PNG, 1 kB\)$/)).toEqual(PICTURE.buffer);
    await fileField(page).setInputFiles(TEXT);
    await page.getByText('The document is neither a PDF nor a JPG nor a PNG.').waitFor();
  },
  'iex',
);

it(
  'staff read the documents of a claim beside the parcel, and in the list of claims',
  async (page) => {
    const number = newNumber();
    const packageId = await makeParcels(service()).receive(number);
    const row = await makeParcels(service()).packageRow(packageId);
    const claim_id = await insertClaim(service().owner, {
      courierId: DEMO.couriers.IEX,
      trackingNumber: number,
    });
    await service().call('addClaimDocument', {
      as: 'iex',
      form: { claim_id, document: { file: PDF.buffer } },
    });
    await page.goto(`${service().url}/console/unknown/${String(row['house_number'])}`);
    expect(await downloaded(page, /^Document 1/)).toEqual(PDF.buffer);
    await page.goto(`${service().url}/console/unknown/claims?of=${claim_id}`);
    await page.getByRole('complementary', { name: number }).waitFor();
    expect(await downloaded(page, /^Document 1/)).toEqual(PDF.buffer);
  },
  'manager',
);

/** Plants a claim of a received parcel with a document. Returns the claim's id and the parcel's house number. */
async function claimWithDocument(): Promise<{ claim_id: string; house: string }> {
  const number = newNumber();
  const packageId = await makeParcels(service()).receive(number);
  const row = await makeParcels(service()).packageRow(packageId);
  const claim_id = await insertClaim(service().owner, {
    courierId: DEMO.couriers.IEX,
    trackingNumber: number,
  });
  const form = { claim_id, document: { file: PDF.buffer } };
  await service().call('addClaimDocument', { as: 'iex', form });
  return { claim_id, house: String(row['house_number']) };
}

for (const [width, colorScheme, locale, add, file] of [
  [1280, 'light', 'en-US', 'Add a receipt', /^Document 1/],
  [390, 'dark', 'es-ES', 'Añadir un recibo', /^Documento 1/],
] as const)
  runs(
    `documents of claims have no finding of axe, and fit (${width} pixels, ${colorScheme}, ${locale})`,
    async () => {
      const { claim_id, house } = await claimWithDocument();
      const look = async (page: Page, path: string) => {
        await page.goto(`${service().url}/console${path}`);
        await page.getByRole('button', { name: file }).first().waitFor();
        const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
        return [...(isWide ? ['scrolls sideways'] : []), ...(await findingsOf(page))];
      };
      const findings: Record<string, string[]> = {};
      for (const [user, paths] of [
        ['manager', [`/unknown/${house}`, `/unknown/claims?of=${claim_id}`]],
        ['iex', [`#/claims/${claim_id}`]],
      ] as const) {
        const { page } = await openWindow({ width, colorScheme, locale, isQuiet: false });
        await logIn(page, user, DEMO.password);
        await page.locator('.workplace').waitFor();
        for (const path of paths) findings[path] = await look(page, path);
        if (user === 'iex') await page.getByLabel(add).waitFor();
      }
      expect(Object.values(findings).flat()).toEqual([]);
      expect(Object.keys(findings)).toHaveLength(3);
    },
  );
