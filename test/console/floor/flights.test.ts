import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { findingsOf, pressTimed, scan } from '../../support/console/browser.js';
import { consoleSuite, expectWord, keysAt } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { atWork, it, runs, service } = consoleSuite();

type Received = { package_id: string; house_number: string; tracking_number: string };

const receive = async (fields: object = { user_code: 'IEX-1001' }): Promise<Received> => {
  const body = { tracking_number: newNumber(), weight: 1, ...fields };
  const received = await service().call('receivePackage', { as: 'warehouse', body });
  return { tracking_number: body.tracking_number, ...received.body['data'] };
};

async function announce(number: string, as: string, code: string): Promise<void> {
  const body = { user_code: code, tracking_number: number, vendor: 'Example Books' };
  expect((await service().call('createPrealert', { as, body })).status).toBe(201);
}

/** A parcel that two couriers have announced. */
async function receiveDisputed(): Promise<Received> {
  const number = newNumber();
  await announce(number, 'iex', 'IEX-1001');
  await announce(number, 'hrb', 'HRB-2001');
  return receive({ tracking_number: number });
}

/** Makes a manifest with packages, and returns its id. */
async function makeManifest(packages: Received[] = [], status?: 'ready'): Promise<string> {
  const { body } = await service().call('createManifest', { as: 'warehouse', body: {} });
  const { manifest_id } = body['data'];
  const manage = (change: object) =>
    service().call('manageManifest', { as: 'warehouse', body: { manifest_id, ...change } });
  const package_ids = packages.map(({ package_id }) => package_id);
  if (package_ids.length > 0) await manage({ action: 'add_packages', package_ids });
  if (status) await manage({ action: 'update_meta', status });
  return manifest_id;
}

const cargoOf = async (manifestId: string): Promise<string[]> => {
  const { rows } = await service().owner.query<{ id: string }>(
    'select id from packages where tenant_id = $1 and manifest_id = $2 order by id',
    [DEMO.tenants.demo, manifestId],
  );
  return rows.map(({ id }) => id);
};

const open = async (page: Page, path: string) => {
  await page.evaluate(`location.hash = '#/${path}'`);
  await page.getByLabel('Number', { exact: true }).waitFor();
};

const word = (page: Page) => page.getByTestId('outcome').locator('.outcome-word');

describe('a manifest', () => {
  for (const gapMs of [80, 250, 450])
    it(`loses one package by a double click on Remove, and Undo puts it back (${gapMs} ms)`, async (page) => {
      const packages = [await receive(), await receive(), await receive()];
      const manifestId = await makeManifest(packages);
      await open(page, `manifests/${manifestId}`);
      await page
        .getByRole('button', { name: /^Remove/ })
        .first()
        .waitFor();
      // Another row has moved to the place of the first click meanwhile.
      await page.evaluate(`(async () => {
        const click = () =>
          [...document.querySelectorAll('td button')]
            .find(({ textContent }) => textContent.startsWith('Remove'))
            .dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: 500, clientY: 500 }));
        click();
        await new Promise((resolve) => setTimeout(resolve, ${gapMs}));
        click();
      })()`);
      await expectWord(page, 'REMOVED');
      await page.waitForTimeout(700);
      expect(await cargoOf(manifestId)).toHaveLength(2);
      await page.getByRole('button', { name: 'Undo' }).dblclick();
      await expectWord(page, 'ADDED');
      expect(await cargoOf(manifestId)).toHaveLength(3);
      expect(await page.getByTestId('removed').count()).toBe(0);
    });

  it('shows the result of a scan only as long as it is true, and on its own page', async (page) => {
    const parcel = await receive();
    const [first, second] = [await makeManifest(), await makeManifest()];
    await open(page, `manifests/${first}`);
    await scan(page, parcel.tracking_number);
    await expectWord(page, 'ADDED');
    await scan(page, parcel.house_number);
    await expectWord(page, 'ALREADY ON IT');
    await page.evaluate(`location.hash = '#/manifests/${second}'`);
    await word(page).waitFor({ state: 'detached' });
    await page.getByText('No packages on this manifest.').waitFor();
    await scan(page, parcel.tracking_number);
    await expectWord(page, 'WRONG FLIGHT');
    await open(page, `manifests/${first}`);
    await page.getByRole('button', { name: /^Remove/ }).click();
    await expectWord(page, 'REMOVED');
    expect(await cargoOf(first)).toEqual([]);
    expect(await cargoOf(second)).toEqual([]);
  });

  it('shows no late answer on another manifest', async (page) => {
    const parcel = await receive();
    const [first, second] = [await makeManifest(), await makeManifest()];
    await open(page, `manifests/${first}`);
    let answer = (): void => undefined;
    const isLeft = new Promise<void>((resolve) => (answer = resolve));
    await page.route(
      '**/api/ResolveScan.php',
      async (route) => {
        await isLeft;
        await route.continue();
      },
      { times: 1 },
    );
    await scan(page, parcel.tracking_number);
    await page.evaluate(`location.hash = '#/manifests/${second}'`);
    await page.getByText('No packages on this manifest.').waitFor();
    answer();
    await until(async () => (await cargoOf(first)).length === 1);
    await page.waitForLoadState('networkidle');
    expect(await word(page).count()).toBe(0);
  });

  it('names parcels whose owner is in doubt, when they are added and before a step', async (page) => {
    const [disputed, ownerless] = [await receiveDisputed(), await receive({})];
    const manifestId = await makeManifest([await receive()]);
    await open(page, `manifests/${manifestId}`);
    await scan(page, disputed.tracking_number);
    await expectWord(page, 'OWNER IN DOUBT');
    await page.getByTestId('outcome').getByText('lay it aside').waitFor();
    await scan(page, ownerless.tracking_number);
    await expectWord(page, 'NO OWNER');
    await page.getByRole('button', { name: 'Make ready' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByTestId('step-disputed').innerText()).toContain(disputed.house_number);
    const named = await dialog.getByTestId('step-ownerless').innerText();
    expect(named).toContain(ownerless.house_number);
    expect(named).toContain('lay them aside');
    await dialog.locator('button.primary:enabled').waitFor();
    expect(await findingsOf(page)).toEqual([]);
  });

  it('says of a held parcel that it is on hold', async (page) => {
    const parcel = await receive();
    await service().call('recordPackageEvent', {
      as: 'warehouse',
      body: { package_id: parcel.package_id, status: 'on_hold' },
    });
    await open(page, `manifests/${await makeManifest()}`);
    await scan(page, parcel.tracking_number);
    await expectWord(page, 'HOLD');
    await page.getByTestId('outcome').getByText('shelf for held parcels').waitFor();
    expect(await page.getByTestId('outcome').innerText()).not.toContain('errors');
  });
});

describe('a load', () => {
  it('names parcels whose owner is in doubt, also when they are added from there', async (page) => {
    const [disputed, ownerless, late] = [await receiveDisputed(), await receive({}), await receive()];
    const manifestId = await makeManifest([disputed, ownerless, await receive()], 'ready');
    // Its courier is known, its customer is not.
    const body = { package_id: late.package_id, user_code: '' };
    expect((await service().call('updatePackage', { as: 'warehouse', body })).status).toBe(200);
    await open(page, `load/${manifestId}`);
    await scan(page, disputed.tracking_number);
    await expectWord(page, 'OWNER IN DOUBT');
    await scan(page, ownerless.tracking_number);
    await expectWord(page, 'NO OWNER');
    await page.getByTestId('outcome').getByText('Take it off and lay it aside').waitFor();
    await scan(page, late.tracking_number);
    await expectWord(page, 'NOT ON FLIGHT');
    await page.getByRole('button', { name: 'Add it to this flight' }).click();
    await expectWord(page, 'NO OWNER');
    expect(await cargoOf(manifestId)).toHaveLength(4);
  });

  it('takes parcels off until the person goes on loading, also after a reload', async (page) => {
    const parcels = [await receive(), await receive(), await receive()];
    const manifestId = await makeManifest(parcels, 'ready');
    await open(page, `load/${manifestId}`);
    for (const { tracking_number, house_number } of parcels) {
      await scan(page, tracking_number);
      await expectWord(page, 'LOADED');
      await page.getByTestId('outcome').getByText(house_number).waitFor();
    }
    await page.getByRole('button', { name: 'Take parcels off' }).click();
    const [first, second, third] = parcels.map(({ tracking_number }) => tracking_number);
    for (const number of [first ?? '', second ?? '']) {
      await scan(page, number);
      await expectWord(page, 'TAKEN OFF');
    }
    await page.getByTestId('count-loaded').filter({ hasText: '1' }).waitFor();
    await page.reload();
    await page.getByTestId('unloading').waitFor();
    await scan(page, third ?? '');
    await expectWord(page, 'TAKEN OFF');
    await page.getByTestId('count-loaded').filter({ hasText: '0' }).waitFor();
    await page.getByRole('button', { name: 'Go on loading' }).click();
    await page.getByTestId('unloading').waitFor({ state: 'detached' });
    await scan(page, second ?? '');
    await expectWord(page, 'LOADED');
    expect(await page.getByTestId('count-missing').innerText()).toMatch(/2|3/);
  });

  it('takes no weight of a scale for a parcel, and a manifest neither', async (page) => {
    const manifestId = await makeManifest([await receive()], 'ready');
    for (const path of [`load/${manifestId}`, `manifests/${manifestId}`]) {
      await open(page, path);
      await pressTimed(page, keysAt(4, '5.5 lb', 'Enter'));
      await expectWord(page, 'NO WEIGHT HERE');
      await page.getByTestId('outcome').getByText('The scale says 5.5 lb').waitFor();
      await page.waitForTimeout(300);
      await pressTimed(page, keysAt(130, '5.5 lb', 'Enter'));
      await expectWord(page, 'NO WEIGHT HERE');
    }
    await page.evaluate(`location.hash = '#/find'`);
    await page.getByLabel('Code, number, customer or name').waitFor();
    await pressTimed(page, keysAt(4, '6.5 lb', 'Enter'));
    await page.getByTestId('stray').getByText('6.5 lb').waitFor();
    await page.evaluate(`location.hash = '#/load/${manifestId}'`);
    await page.getByTestId('count-extra').filter({ hasText: '0' }).waitFor();
    expect(await page.getByTestId('attention').count()).toBe(0);
  });
});

describe('a dispute', () => {
  const ownerOf = async ({ package_id }: Received) => {
    const { rows } = await service().owner.query<{ user_code: string | null }>(
      'select user_code from packages where id = $1',
      [package_id],
    );
    return rows[0]?.user_code ?? null;
  };

  /** Opens the claims of a parcel, and clears all but the last one. */
  const openLastClaim = async (page: Page, { tracking_number }: Received) => {
    await page.evaluate(`location.hash = '#/flagged'`);
    const claims = page.locator('.groups > li', { hasText: tracking_number });
    const dialog = page.getByRole('dialog');
    for (let left = await count(claims); left > 1; left -= 1) {
      await claims
        .getByRole('button', { name: /^Review/ })
        .first()
        .click();
      await dialog.getByLabel('Reason').fill('The label says otherwise');
      await dialog.getByLabel('I only clear the flag').check();
      await dialog.getByRole('button', { name: 'Clear the flag' }).click();
      await dialog.waitFor({ state: 'detached' });
      await claims
        .getByText(`Claims: ${left - 1}`)
        .waitFor({ timeout: 10_000 })
        .catch(() => undefined);
    }
    if ((await claims.count()) === 0) return undefined;
    await claims.getByRole('button', { name: /^Review/ }).click();
    await dialog.getByLabel('Reason').fill('Nothing on the label');
    return dialog;
  };
  const count = async (claims: ReturnType<Page['locator']>) => {
    await claims.waitFor();
    return claims.getByRole('button', { name: /^Review/ }).count();
  };

  it('is not closed without saying whose the parcel is', async (page) => {
    const parcel = await receiveDisputed();
    const dialog = await openLastClaim(page, parcel);
    if (!dialog) throw new Error('No claim is left.');
    await dialog.getByText('This is the last claim').waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText('Say whose parcel it is').waitFor();
    await dialog.getByLabel('Another customer owns it').check();
    await dialog.getByLabel('Whose parcel is it?').last().fill('HRB-2001');
    await dialog.getByRole('option').first().click();
    expect(await findingsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Clear the flag' }).click();
    await page.getByTestId('reviewed').getByText('belongs to HRB-2001').waitFor();
    expect(await ownerOf(parcel)).toBe('HRB-2001');
  });

  it('leaves a parcel without an owner in a list, from which it gets one', async (page) => {
    const parcel = await receiveDisputed();
    const dialog = await openLastClaim(page, parcel);
    if (!dialog) throw new Error('No claim is left.');
    await dialog.getByLabel('Nobody knows yet').check();
    await dialog.getByRole('button', { name: 'Clear the flag' }).click();
    await page.getByTestId('reviewed').getByText('It has no owner').waitFor();
    expect(await ownerOf(parcel)).toBeNull();
    await page.getByRole('button', { name: 'Show those of the last 30 days' }).click();
    await page.getByRole('button', { name: `Give it an owner ${parcel.house_number}` }).click();
    await page.getByRole('dialog').getByLabel('Whose parcel is it?').fill('IEX-1001');
    await page.getByRole('dialog').getByRole('option').first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save the owner' }).click();
    await page.getByText(`${parcel.house_number} belongs to IEX-1001 now.`).waitFor();
    expect(await ownerOf(parcel)).toBe('IEX-1001');
  });

  it('and Find gives a parcel an owner too', async (page) => {
    const parcel = await receive({});
    await page.evaluate(`location.hash = '#/find'`);
    await page.getByLabel('Code, number, customer or name').waitFor();
    await scan(page, parcel.house_number);
    await page.getByRole('button', { name: 'Give it an owner' }).click();
    await page.getByRole('dialog').getByLabel('Whose parcel is it?').fill('IEX-1001');
    await page.getByRole('dialog').getByRole('option').first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save the owner' }).click();
    await page.getByText(`${parcel.house_number} belongs to IEX-1001 now.`).waitFor();
    expect(await ownerOf(parcel)).toBe('IEX-1001');
  });
});

runs('A double click prints a label once', async () => {
  const parcel = await receive();
  const page = await atWork({ showsPdf: true, device: { labels: 'pdf', language: 'en' } });
  let labels = 0;
  await page.route('**/api/PackageLabel.php*', async (route) => {
    labels += 1;
    await route.fulfill({ status: 404, contentType: 'application/json', body: '{}' });
  });
  await scan(page, parcel.tracking_number);
  await expectWord(page, 'ALREADY RECEIVED');
  await page.getByRole('button', { name: 'Print the label again' }).dblclick();
  await until(() => Promise.resolve(labels > 0));
  await page.waitForTimeout(900);
  expect(labels).toBe(1);
});

it('A scan changes nothing behind a dialog, and does not close it', async (page) => {
  const parcel = await receive();
  const manifestId = await makeManifest([await receive()]);
  await open(page, `manifests/${manifestId}`);
  await page.getByRole('button', { name: 'Make ready' }).click();
  await scan(page, parcel.tracking_number);
  await expectWord(page, 'NOT POSSIBLE');
  expect(await cargoOf(manifestId)).toHaveLength(1);
  await receiveDisputed();
  await page.keyboard.press('Escape');
  await page.evaluate(`location.hash = '#/flagged'`);
  await page
    .getByRole('button', { name: /^Review/ })
    .first()
    .click();
  await page.getByRole('dialog').getByRole('radio').first().focus();
  await scan(page, parcel.tracking_number);
  await page.getByTestId('stray').getByText('Close the dialog').waitFor();
  expect(await page.evaluate('location.hash')).toBe('#/flagged');
  expect(await page.getByRole('dialog').count()).toBe(1);
});
