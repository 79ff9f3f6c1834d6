import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { findingsOf } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';

const { atWork, runs, service } = consoleSuite();

/** Sends a pre-alert with the key of the courier, and returns the id of the request once it is in the log. */
async function send(TrackingNumber: string, UserCode = 'IEX-1001'): Promise<string> {
  const reply = await service().call('submitPrealert', {
    key: DEMO.apiKeys.IEX,
    body: { UserCode, TrackingNumber },
  });
  await service().app.callLog.flush();
  return reply.headers.get('x-request-id') ?? '';
}

runs('a courier finds the call that failed, and what to do', async () => {
  await send('CONSOLE10001');
  const refused = await send('CONSOLE10002', 'IEX-9999');
  const page = await atWork({ user: 'iex' });
  await page.evaluate("location.hash = '#/calls'");
  await page.getByRole('heading', { name: 'API calls' }).waitFor();
  await page.getByText('Kept for 30 days.').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'CONSOLE10002' });
  await row.waitFor();
  await page.getByLabel('Parcel', { exact: true }).fill('CONSOLE10001');
  await page.keyboard.press('Enter');
  await row.waitFor({ state: 'detached' });
  expect(await page.evaluate('location.hash')).toContain('parcel=CONSOLE10001');
  // The address that a program can log.
  await page.evaluate(`location.hash = '#/calls?request_id=${refused}'`);
  await row.click();
  const panel = page.getByRole('complementary', { name: 'submitPrealert' });
  await panel.getByText(refused).waitFor();
  await panel.getByText(`API key …${DEMO.apiKeys.IEX.slice(-6)}`).waitFor();
  const meaning = panel.getByRole('link', { name: 'What the code means, and what to do' });
  expect(await meaning.getAttribute('href')).toMatch(/^\/docs\/errors#[a-z_]+$/);
  expect(await findingsOf(page)).toEqual([]);
});

runs('a manager finds the calls of a courier on its page, with the filter in the address', async () => {
  await send('CONSOLE10003');
  const page = await atWork({ user: 'manager' });
  await page.goto(`${service().url}/console/couriers/IEX/calls?parcel=CONSOLE10003`);
  const row = page.getByRole('row').filter({ hasText: 'CONSOLE10003' });
  await row.click();
  await page
    .getByRole('complementary', { name: 'submitPrealert' })
    .getByText('POST /api/Prealert.php')
    .waitFor();
  expect(new URL(page.url()).searchParams.get('of')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await findingsOf(page)).toEqual([]);
});
