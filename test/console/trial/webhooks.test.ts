import { afterAll, beforeAll, expect } from '@jest/globals';
import { assignedLater } from '../../support/fixture/assigned-later.js';
import { consoleSuite } from '../../support/console/suite.js';
import { refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { choose, task } from './trial.js';

// What the owner of a courier does to connect a system, with a receiver that the test starts.

const suite = consoleSuite({ worker: true });
const [receiver, setReceiver] = assignedLater<Receiver>('receiver');
beforeAll(async () => setReceiver(await startReceiver()));
afterAll(() => receiver.stop());

const prepare = async () => {
  const { owner, app } = suite.service();
  await setEndpoints({ owner, secrets: app.secrets }, { add: `${receiver.url}/add` });
};

task(suite, {
  title: 'tests a webhook, and sees that it arrived',
  user: 'iex',
  most: 3,
  prepare,
  work: async (page) => {
    await choose(page, 'Developers');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('button', { name: 'Send a test' }).first().click();
    await page.getByText('The test arrived.').waitFor();
    const [received, ...others] = receiver.at('/add');
    expect(others).toEqual([]);
    expect(JSON.parse(received?.body ?? '')).toMatchObject({ type: 'webhook.test' });
  },
});

task(suite, {
  title: 'tests a webhook that the own system refuses, and sees why',
  user: 'iex',
  most: 3,
  prepare: async () => {
    await prepare();
    receiver.answer = refuse(401, 'Who are you?');
  },
  work: async (page) => {
    await choose(page, 'Developers');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('button', { name: 'Send a test' }).first().click();
    await page.getByText(/^The test did not arrive: .*401/).waitFor();
  },
});
