import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { findingsOf, logIn } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';

const { it, open, runs, service } = consoleSuite();

/** Asks for the label of a new parcel at the station, which no printer could print. Returns the parcel's house number. */
async function failedLabel(station: string): Promise<string> {
  const parcels = makeParcels(service());
  const id = await parcels.receive(newNumber());
  const call = { as: 'warehouse', body: { print_id: randomUUID(), station, package_ids: [id] } };
  const { job_id } = (await service().call('createLabelJobs', call)).body['data'].jobs[0];
  await service().owner.query(
    `update label_jobs set status = 'failed', claim_id = new_id(), lease_until = now(), ended_at = now(),
       reason = 'The printer is out of paper.' where id = $1`,
    [job_id],
  );
  return String((await parcels.packageRow(id))['house_number']);
}

it(
  'a manager sees which printer is connected, and prints a failed label again',
  async (page) => {
    const house = await failedLabel('Belt 7');
    await service().call('claimLabelJobs', { as: 'warehouse', body: { station: 'Belt 8', max_jobs: 1 } });
    await page.goto(`${service().url}/console/settings`);
    await page.getByRole('link', { name: 'Stations and printers' }).click();
    const row = (name: string) => page.locator('.grid tbody tr').filter({ hasText: name });
    await row('Belt 8').getByText('Connected', { exact: true }).waitFor();
    await row('Belt 7').getByText('None', { exact: true }).waitFor();
    await row('Belt 7').click();
    await page.waitForURL('**/console/settings/stations?of=Belt+7');
    const panel = page.getByRole('complementary', { name: 'Belt 7' });
    await panel.getByText('The printer is out of paper.').waitFor();
    await panel.getByRole('button', { name: `Print again ${house}` }).click();
    await panel.getByText('Waits', { exact: true }).waitFor();
    await panel.getByRole('button', { name: /^Print again/ }).waitFor({ state: 'detached' });
    // The list beside the panel counts again.
    await row('Belt 7').getByRole('cell', { name: '0', exact: true }).waitFor();
    const jobs = await service().call('listLabelJobs', { as: 'manager', query: { station: 'Belt 7' } });
    expect(jobs.body['data']).toMatchObject([
      { status: 'waiting', house_number: house },
      { status: 'failed' },
    ]);
  },
  'manager',
);

runs('a station with a label that failed has no finding of axe, and fits on a phone in Spanish', async () => {
  await failedLabel('Dock with a name of fifty characters, long as can');
  const { page } = await open({ width: 390, colorScheme: 'dark', locale: 'es-ES', isQuiet: false });
  await logIn(page, 'manager', DEMO.password);
  await page.locator('.workplace').waitFor();
  await page.goto(`${service().url}/console/settings/stations`);
  await page.locator('.grid tbody tr').filter({ hasText: 'Dock with' }).getByRole('link').click();
  await page.getByRole('button', { name: /^Imprimir otra vez/ }).waitFor();
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(await findingsOf(page)).toEqual([]);
});
