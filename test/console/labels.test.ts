import { describe, expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { findingsOf, scan, type } from '../support/console/browser.js';
import { consoleSuite, expectWord } from '../support/console/suite.js';
import { until } from '../support/service/processes.js';

const { atWork, runs, service } = consoleSuite({ worksOffline: true });

const listJobs = async (station: string): Promise<{ job_id: string; status: string }[]> =>
  (await service().call('listLabelJobs', { as: 'warehouse', query: { station } })).body['data'];

/** Asks for labels of some packages. */
async function requestLabels(station: string, count: number): Promise<void> {
  const { body } = await service().call('listPackages', { as: 'warehouse', body: { limit: count } });
  const ids = (body['data'] as { package_id: string }[]).map(({ package_id }) => package_id);
  const { status } = await service().call('createLabelJobs', {
    as: 'warehouse',
    body: { print_id: randomUUID(), station, package_ids: ids },
  });
  expect(status).toBe(200);
}

async function openStation(device: object) {
  const page = await atWork({ showsPdf: true, device: { hasSound: false, ...device } });
  return { page, context: page.context() };
}

describe('labels', () => {
  runs('of scans that an earlier page sent are listed until they are printed', async () => {
    const { page, context } = await openStation({ labels: 'zpl' });
    await page.evaluate('navigator.serviceWorker.ready');
    await context.setOffline(true);
    await scan(page, 'LABEL00001');
    await expectWord(page, 'WEIGH');
    await type(page, '4');
    await page.keyboard.press('Enter');
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await page.reload();
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await context.setOffline(false);
    await page.getByText('Labels that were not printed: 1').click();
    const label = page.waitForRequest(/PackageLabel\.php/);
    await page
      .getByTestId('labels')
      .getByRole('button', { name: /^Print/ })
      .click();
    expect((await label).url()).toContain('format=zpl');
    await page.getByTestId('labels').waitFor({ state: 'detached' });
  });

  const receive = async (page: Page, number: string) => {
    await scan(page, number);
    await expectWord(page, 'UNKNOWN');
    await type(page, '4');
    await page.keyboard.press('Enter');
    await expectWord(page, 'NO OWNER');
  };

  runs(
    'go to the printer of the station if a bridge asks for its labels, although it never had one',
    async () => {
      await service().call('claimLabelJobs', { as: 'warehouse', body: { station: 'Belt 7', max_jobs: 1 } });
      const { page } = await openStation({ station: 'Belt 7', version: 2 });
      await receive(page, 'QUEUE00001');
      await until(async () => (await listJobs('Belt 7')).length === 1);
      expect((await listJobs('Belt 7'))[0]).toMatchObject({ status: 'waiting' });
    },
  );

  runs(
    'are printed here while no bridge asks, although one has printed, and go to one that begins to',
    async () => {
      await requestLabels('Belt 9', 1);
      const poll = () =>
        service().call('claimLabelJobs', { as: 'warehouse', body: { station: 'Belt 9', max_jobs: 1 } });
      await poll();
      await service().owner.query(
        "update label_bridges set seen_at = now() - interval '3 minutes' where station = 'Belt 9'",
      );
      const { page } = await openStation({ station: 'Belt 9', version: 2 });
      const printed = page.waitForRequest(/PackageLabel\.php/);
      await receive(page, 'BRIDGE00001');
      await printed;
      expect(await listJobs('Belt 9')).toHaveLength(1);
      await poll();
      await receive(page, 'BRIDGE00002');
      await until(async () => (await listJobs('Belt 9')).length === 2);
    },
  );

  runs(
    'that failed or wait for more than a minute are listed, and a failed one is printed again',
    async () => {
      await requestLabels('Belt 8', 2);
      const { body } = await service().call('claimLabelJobs', {
        as: 'warehouse',
        body: { station: 'Belt 8', max_jobs: 1 },
      });
      const { claim_id: claimId, jobs } = body['data'];
      const report = {
        claim_id: claimId,
        job_id: jobs[0].job_id,
        status: 'failed',
        reason: 'No paper left.',
      };
      expect((await service().call('reportLabelJob', { as: 'warehouse', body: report })).status).toBe(200);
      const { page } = await openStation({ station: 'Belt 8', labels: 'queue', version: 2 });
      // The other one was requested a moment ago.
      await page.getByText('Labels that were not printed: 1').waitFor();
      await service().owner.query(
        "update label_jobs set created_at = now() - interval '2 minutes' where station = 'Belt 8' and status = 'waiting'",
      );
      await page.reload();
      await page.getByText('Labels that were not printed: 2').click();
      const list = page.getByTestId('labels').getByRole('listitem');
      await list.filter({ hasText: 'No paper left.' }).waitFor();
      expect(await findingsOf(page)).toEqual([]);
      await list.filter({ hasText: 'No paper left.' }).getByRole('button', { name: 'Print' }).click();
      await page.getByText('Labels that were not printed: 1').waitFor();
      expect((await listJobs('Belt 8')).map(({ status }) => status)).toEqual([
        'waiting',
        'waiting',
        'failed',
      ]);
    },
  );
});
