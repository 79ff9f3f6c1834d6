import { afterAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import speakeasy from 'speakeasy';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { insertEvent } from '../support/builders/deliveries.js';
import { newNumber } from '../support/builders/parcels.js';
import { findingsOf, outcomeOf, scan, type } from '../support/console/browser.js';
import { plantFailingHooks } from '../support/console/failing-hooks.js';
import { consoleSuite } from '../support/console/suite.js';
import { serviceTokenOf } from '../support/service/principals.js';
import { makeFolder, removeFolders } from '../support/service/processes.js';

// Without an outbox, the service has no mail and refuses to reset a password.
const { atWork, open, runs, service } = consoleSuite({
  environment: async () => ({ MAIL_OUTBOX: await makeFolder() }),
  worksOffline: true,
});

afterAll(removeFolders);

/** Opens one dialog. The page is that of a user who has just logged in. */
type Opening = (page: Page) => Promise<unknown>;

const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
const press =
  (key: string): Opening =>
  (page) =>
    page.keyboard.press(key);
const goTo = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);
const account =
  (...names: string[]): Opening =>
  async (page) => {
    for (const name of ['Account', ...names]) await click(page, new RegExp(`^${name}`));
  };
const manifest =
  (id: string, button: string): Opening =>
  async (page) => {
    await goTo(page, `manifests/${id}`);
    await page.getByRole('button', { name: button, exact: true }).click();
  };
/** Opens a page of the office, and presses buttons. One in a dialog comes after those of the page. */
const office =
  (path: string, ...names: string[]): Opening =>
  async (page) => {
    await page.goto(`${service().url}/console/${path}`);
    for (const name of names) await page.getByRole('button', { name }).last().click();
  };
/** A button that is pale because of a double click becomes active during a run of axe, which reads both states. */
const armed = (page: Page) => page.locator('dialog[open] button.primary:enabled').last().waitFor();
const endSessions = (userId: string) =>
  service().owner.query(
    "update sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1 and ended_at is null",
    [userId],
  );

const beginParcel: Opening = async (page) => {
  await scan(page, newNumber());
  await outcomeOf(page).waitFor();
};

const newToken: Opening = async (page) => {
  await goTo(page, 'tokens');
  await click(page, 'New token');
};

const theSandbox: Opening = async (page) => {
  await goTo(page, 'developers');
  await click(page, 'Sandbox …');
};

const newFeed: Opening = async (page) => {
  await goTo(page, 'feeds');
  await click(page, 'New feed');
};

/** The dialogs that need a session: the file that has each, its user, and how it is opened. */
const DIALOGS: [dialog: string, file: string, user: 'warehouse' | 'manager' | 'iex', open: Opening][] = [
  ['the account', 'ui/account-menu.tsx', 'warehouse', account()],
  ['the account of a courier', 'ui/account-menu.tsx', 'iex', account()],
  ['the password', 'session/account-dialog.tsx', 'warehouse', account('Change the password')],
  ['the sessions', 'session/account-dialog.tsx', 'warehouse', account('Where you are logged in')],
  ['the second factor', 'session/account-dialog.tsx', 'warehouse', account('Set up the second factor')],
  ['the keys', 'ui/help.tsx', 'warehouse', press('F1')],
  [
    'the queue',
    'queue/panel.tsx',
    'warehouse',
    async (page) => {
      await page.context().setOffline(true);
      await beginParcel(page);
      await type(page, '4');
      await page.keyboard.press('Enter');
      await page.getByTestId('queue').click();
    },
  ],
  [
    'the correction of the last parcel',
    'station/correct/correct-dialog.tsx',
    'warehouse',
    async (page) => {
      await beginParcel(page);
      await type(page, '4');
      await page.keyboard.press('Enter');
      await outcomeOf(page).filter({ hasText: 'NO OWNER' }).waitFor();
      await page.keyboard.press('F2');
    },
  ],
  [
    'a parcel in work at the log-out',
    'station/leave.tsx',
    'warehouse',
    async (page) => {
      await beginParcel(page);
      await type(page, '4');
      await account('Log out')(page);
    },
  ],
  [
    'an ended session',
    'session/login.tsx',
    'manager',
    async (page) => {
      await endSessions(DEMO.users.manager);
      await goTo(page, 'today');
    },
  ],
  ['a locked station', 'session/login.tsx', 'warehouse', account('Lock')],
  [
    'a review',
    'owners/review-dialog.tsx',
    'manager',
    async (page) => {
      await goTo(page, 'flagged');
      await click(page, /^Review/);
    },
  ],
  [
    'the owner of a parcel',
    'owners/owner-dialog.tsx',
    'warehouse',
    async (page) => {
      const tracking_number = newNumber();
      await service().call('receivePackage', { as: 'warehouse', body: { tracking_number, weight: 1 } });
      await goTo(page, 'find');
      await page.getByLabel('Code, number, customer or name').waitFor();
      await scan(page, tracking_number);
      await page.getByRole('button', { name: 'Give it an owner' }).click();
    },
  ],
  [
    'a check of an address',
    'integration/check-dialog.tsx',
    'iex',
    async (page) => {
      await service().owner.query(
        "update couriers set api_url_add_package = 'https://x.example' where code = 'IEX'",
      );
      await goTo(page, 'developers');
      await page.getByRole('button', { name: 'Check …' }).click();
    },
  ],
  [
    'a receipt that is voided',
    'find/void/void-dialog.tsx',
    'warehouse',
    async (page) => {
      const tracking_number = newNumber();
      await service().call('receivePackage', { as: 'warehouse', body: { tracking_number, weight: 1 } });
      await goTo(page, 'find');
      await page.getByLabel('Code, number, customer or name').waitFor();
      await scan(page, tracking_number);
      await page.getByRole('button', { name: 'Void the receipt …' }).click();
    },
  ],
  [
    'a new manifest',
    'flights/edit.tsx',
    'manager',
    async (page) => {
      await goTo(page, 'manifests');
      await click(page, 'New manifest');
    },
  ],
  ['the flight of a manifest', 'flights/edit.tsx', 'manager', manifest(DEMO.manifests.draft, 'Edit')],
  ['the end of a manifest', 'flights/edit.tsx', 'manager', manifest(DEMO.manifests.draft, 'Delete')],
  [
    'a step of a manifest',
    'flights/step-dialog.tsx',
    'manager',
    async (page) => {
      await manifest(DEMO.manifests.draft, 'Make ready')(page);
      await armed(page);
    },
  ],
  [
    'a manifest that goes back to draft',
    'flights/reopen.tsx',
    'manager',
    async (page) => {
      const { body } = await service().call('createManifest', { as: 'warehouse', body: {} });
      const { manifest_id } = body['data'];
      const ready = { action: 'update_meta', manifest_id, status: 'ready' };
      await service().call('manageManifest', { as: 'warehouse', body: ready });
      await manifest(manifest_id, 'Back to draft')(page);
      await armed(page);
    },
  ],
  [
    'the address of webhooks',
    'office/ui/dialogs.tsx',
    'iex',
    async (page) => {
      await goTo(page, 'webhooks');
      await click(page, /(Change|Set) the address/);
    },
  ],
  [
    'the events of an address',
    'integration/events-dialog.tsx',
    'iex',
    async (page) => {
      await service().owner.query(
        "update couriers set api_url_add_package = 'https://x.example', add_package_format = 'event' where code = 'IEX'",
      );
      await goTo(page, 'webhooks');
      await click(page, /^Choose events/);
    },
  ],
  [
    'a webhook',
    'ui/data/delivery-dialog.tsx',
    'iex',
    async (page) => {
      await plantFailingHooks(service().owner);
      await goTo(page, 'webhooks');
      await page.getByRole('button', { name: 'package.created' }).first().click();
      await page.getByTestId('delivery').getByText('Unknown customer IEX-1001').waitFor();
    },
  ],
  [
    'webhooks that are sent again',
    'ui/data/resend-dialog.tsx',
    'iex',
    async (page) => {
      await goTo(page, 'webhooks');
      await click(page, 'Send again …');
      await page.getByTestId('resend-count').waitFor();
    },
  ],
  [
    'the bills of a month that are sent',
    'office/pages/bills/run/send-all.tsx',
    'manager',
    async (page) => {
      const { rows } = await service().owner.query<{ month: string }>(
        `update couriers c set email = 'billing@island.example' from bills b where b.courier_id = c.id and b.status <> 'draft'
         returning to_char(b.start_date, 'YYYY-MM') as month`,
      );
      await page.goto(`${service().url}/console/bills/run?month=${rows[0]?.month}`);
      await page.getByRole('button', { name: 'Send all' }).click();
    },
  ],
  ['a new service token', 'integration/tokens/token-list.tsx', 'iex', newToken],
  [
    'the secret of a service token',
    'integration/tokens/token-list.tsx',
    'iex',
    async (page) => {
      await newToken(page);
      await page.getByRole('textbox', { name: 'Name' }).fill(newNumber());
      await page.getByLabel('Read packages').check();
      await page.getByLabel('Password').fill(DEMO.password);
      await click(page, 'Create');
      await page.getByTestId('token-secret').waitFor();
    },
  ],
  [
    'the end of a service token',
    'integration/tokens/token-list.tsx',
    'iex',
    async (page) => {
      await serviceTokenOf(service(), 'iex', ['packages:read'], newNumber());
      await goTo(page, 'tokens');
      await click(page, /^Revoke/);
    },
  ],
  ['the sandbox', 'courier/developers/sandbox-dialog.tsx', 'iex', theSandbox],
  [
    'the end of a tracking link',
    'integration/tracking/link-section.tsx',
    'iex',
    async (page) => {
      const [package_id] = DEMO.packages.shipped.IEX;
      await service().call('manageTrackingLinks', { as: 'iex', body: { action: 'create', package_id } });
      await goTo(page, `parcels/${package_id}`);
      await click(page, 'End link');
    },
  ],
  ['a new feed', 'integration/feeds/feed-list.tsx', 'iex', newFeed],
  [
    'the content of an event',
    'courier/events.tsx',
    'iex',
    async (page) => {
      await insertEvent(service().owner);
      await goTo(page, 'events');
      await click(page, /^A package was received/);
    },
  ],
  [
    'batches sent again',
    'office/pages/webhooks/dispatches-dialog.tsx',
    'manager',
    office('webhooks', 'Batches sent again'),
  ],
  [
    'the secret of a feed',
    'integration/feeds/feed-list.tsx',
    'iex',
    async (page) => {
      await newFeed(page);
      await page.getByRole('textbox', { name: 'Name' }).fill(newNumber());
      await click(page, 'Create');
      await page.getByTestId('feed-secret').waitFor();
    },
  ],
  [
    'the end of a feed',
    'integration/feeds/feed-list.tsx',
    'iex',
    async (page) => {
      const fields = { action: 'create', kind: 'easypost', name: newNumber() };
      await service().call('manageFeeds', { as: 'iex', body: fields });
      await goTo(page, 'feeds');
      await click(page, /^Delete/);
    },
  ],
  [
    'the customer of a shop',
    'integration/feeds/feed-list.tsx',
    'iex',
    async (page) => {
      const fields = { action: 'create', kind: 'shopify', name: newNumber(), user_code: 'IEX-1001' };
      await service().call('manageFeeds', { as: 'iex', body: fields });
      await goTo(page, 'feeds');
      await click(page, /^Customer/);
    },
  ],
  ['the palette of the office', 'office/palette/palette.tsx', 'manager', press('Control+k')],
  ['the keys of the office', 'office/help.tsx', 'manager', press('F1')],
  ['a form of the office', 'office/ui/dialogs.tsx', 'manager', office('customers', 'New customer')],
  ['a question', 'office/ui/dialogs.tsx', 'manager', office('couriers/IEX/key', 'Make a new key')],
  [
    'changes that are not saved',
    'office/ui/unsaved.tsx',
    'manager',
    async (page) => {
      await page.goto(`${service().url}/console/couriers/IEX/rates`);
      await page.getByLabel('Fee (USD), row 1').fill('99.5');
      await page.getByRole('link', { name: 'Home', exact: true }).first().click();
    },
  ],
  [
    'a secret',
    'office/ui/dialogs.tsx',
    'manager',
    office('couriers/IEX/webhooks', 'New secret', 'New secret'),
  ],
];

const sources = join(projectRoot, 'console', 'src');

test('every file of the console that has a dialog is in the table', () => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.tsx'),
  );
  const withDialog = files.filter((name) => readFileSync(join(sources, name), 'utf8').includes('<Dialog '));
  const opened = [...DIALOGS.map(([, file]) => file), 'session/forgotten.tsx'];
  expect(withDialog.map((name) => name.replaceAll('\\', '/')).sort()).toEqual([...new Set(opened)].sort());
});

/** Opens a window, and a page after the login. */
async function openAs(user: string): Promise<Page> {
  const page = await atWork({ user });
  await page.evaluate('navigator.serviceWorker.ready');
  return page;
}

/** Waits until the page has not changed for a moment: a button that becomes active is pale until then. */
const settled = (page: Page): Promise<unknown> => page.evaluate(UNCHANGED);

const UNCHANGED = `new Promise((resolve) => {
  const observer = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(finish, 250); });
  const finish = () => { observer.disconnect(); resolve(); };
  let timer = setTimeout(finish, 250);
  observer.observe(document, { attributes: true, childList: true, characterData: true, subtree: true });
})`;

/** Returns the findings in light and in dark. */
async function findingsInBoth(page: Page): Promise<string[]> {
  const findings: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    for (const finding of await findingsOf(page)) findings.push(`${colorScheme}: ${finding}`);
  }
  return findings;
}

/** Presses a key, and returns the number of open dialogs when the next key could come. */
const openAfterKey = (key: string) => `new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => resolve(document.querySelectorAll('dialog[open]').length);
  dispatchEvent(new KeyboardEvent('keydown', { key: '${key}' }));
  port2.postMessage('next');
})`;

runs('A dialog is open before the next key, which is for it', async () => {
  const page = await openAs('warehouse');
  expect(await page.evaluate(openAfterKey('F1'))).toBe(1);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate(openAfterKey('F2'))).toBe(1);
});

describe('every dialog, in light and dark, has no finding of axe', () => {
  for (const [title, , user, openDialog] of DIALOGS)
    runs(title, async () => {
      const page = await openAs(user);
      await openDialog(page);
      await page.getByRole('dialog').last().waitFor();
      await page.waitForLoadState('networkidle');
      expect(await findingsInBoth(page)).toEqual([]);
    });

  runs('a forgotten password, with both steps', async () => {
    const { page } = await open({ isQuiet: false });
    await page.getByRole('button', { name: 'Forgot the password?' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('User name').fill('manager');
    const findings = [await findingsInBoth(page)];
    await dialog.getByRole('button', { name: 'Send the e-mail' }).click();
    await dialog.getByLabel('New password').waitFor();
    findings.push(await findingsInBoth(page));
    expect(findings).toEqual([[], []]);
  });

  runs('the second factor, with all steps until it is switched off', async () => {
    const page = await openAs('hrb');
    await account('Set up the second factor')(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill(DEMO.password);
    await page.keyboard.press('Enter');
    const secret = await dialog.locator('p.mono').textContent();
    const findings = [await findingsInBoth(page)];
    const code = speakeasy.totp({ secret: secret ?? '', encoding: 'base32' });
    await dialog.getByLabel('Code', { exact: true }).fill(code);
    await page.keyboard.press('Enter');
    const stored = dialog.getByRole('button', { name: 'I have stored the codes' });
    await stored.waitFor();
    findings.push(await findingsInBoth(page));
    await stored.click();
    await dialog.waitFor({ state: 'detached' });
    await account('Switch the second factor off')(page);
    await dialog.waitFor();
    findings.push(await findingsInBoth(page));
    expect(findings).toEqual([[], [], []]);
  });
});
