import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { diagnoses } from '../../../generated/diagnoses.js';
import { diagnosesEs } from '../../../console/src/integration/diagnoses-es.js';
import { findingsOf } from '../../support/console/browser.js';
import { until } from '../../support/service/processes.js';
import { consoleSuite } from '../../support/console/suite.js';

const { atWork, runs, service } = consoleSuite();

test('the diagnoses of a check are all in Spanish, and no other', () => {
  expect(Object.keys(diagnosesEs).toSorted()).toEqual(Object.keys(diagnoses).toSorted());
});

/** Plants a check that found that the receiver is not idempotent. */
const plantCheck = () =>
  service().owner.query(
    `insert into integration_checks (tenant_id, id, courier_id, endpoint, status, url, format, findings, requests, finished_at)
     values ($1, new_id(), $2, 'add_package', 'finished', 'https://iex.example/hooks', 'event', $3, $4, now())`,
    [
      DEMO.tenants.demo,
      DEMO.couriers.IEX,
      JSON.stringify([
        {
          code: 'not_idempotent',
          evidence: {
            request: 1,
            http_status: 500,
            content_type: 'text/plain',
            response_start: 'duplicate key',
            detail: null,
          },
        },
      ]),
      JSON.stringify([
        { number: 1, purpose: 'repeat', outcome: 'answered', http_status: 500, duration_ms: 12, error: null },
      ]),
    ],
  );

const queued = async () =>
  (await service().owner.query("select id from integration_checks where status = 'queued'")).rows;

runs('a courier reads what a check has found, and requests another one', async () => {
  const { owner } = service();
  await owner.query("update couriers set api_url_add_package = 'https://iex.example/hooks' where id = $1", [
    DEMO.couriers.IEX,
  ]);
  await plantCheck();
  const page = await atWork({ user: 'iex' });
  await page.evaluate("location.hash = '#/developers'");
  await page.getByRole('button', { name: 'Check …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Check an integration' });
  await dialog.getByText('It does not work as it should.').waitFor();
  const finding = dialog.getByTestId('finding');
  expect(await finding.textContent()).toContain(diagnoses.not_idempotent.meaning);
  expect(await finding.textContent()).toContain('Remember webhook-id, or PackageID');
  await finding.getByText('What shows it').click();
  await finding.getByText('duplicate key').waitFor();
  await finding.getByText('Request 1: the same webhook again, 500').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Check again' }).click();
  await dialog.getByText('The check is running …').waitFor();
  await until(async () => (await queued()).length === 1);
});
