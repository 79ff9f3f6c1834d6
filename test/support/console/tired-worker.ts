import type { Page } from 'playwright-core';
import { PERSON_MS } from '../../../scripts/bench-console/keys.js';
import { pressTimed, untilLastKey } from './browser.js';
import { keysOf, RECORDED_SCANNERS } from './recorded-scanners.js';

/** Returns a function that returns numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a person at the station can see of the parcel in work. */
type Seen = {
  code: string | null;
  isReceived: boolean;
  isOnReceive: boolean;
  hasDialog: boolean;
  weight: string;
};

const LOOK = `(() => {
  const { parcel } = JSON.parse(sessionStorage.getItem('crossdock-work') ?? '{}');
  const field = document.querySelector('[name=weight]');
  return {
    code: parcel?.scan ?? null,
    isReceived: (parcel?.resolution?.matches.packages.length ?? 0) > 0,
    isOnReceive: document.querySelector('.menu a[aria-current=page]')?.hash === '#/receive',
    hasDialog: document.querySelector('dialog[open]') !== null,
    weight: field ? field.value : '',
  };
})()`;

export type Worker = {
  /** The weights of the parcels that were scanned and weighed. */
  weighed: Map<string, number>;
  /** Everything that was scanned or typed as a number. */
  codes: Set<string>;
  /** What was done, to read after a failure. */
  log: string[];
  /** Does something at random. */
  act(): Promise<void>;
  /** Ends the sequence: online, logged in, without dialogs, and without a parcel. */
  finish(): Promise<void>;
};

type Options = {
  page: Page;
  seed: number;
  password: string;
  onOffline: (isOffline: boolean) => Promise<void>;
};

/** A tired person at a station, with any of the recorded scanners. */
export function makeWorker({ page, seed, password, onOffline }: Options): Worker {
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('There is nothing to pick.');
    return item;
  };
  const scanner = pick(RECORDED_SCANNERS);
  const weighed = new Map<string, number>();
  const codes = new Set<string>();
  const log: string[] = [scanner.name];
  let count = 0;
  let isOffline = false;
  const look = () => page.evaluate<Seen>(LOOK);
  const press = async (key: string) => {
    await untilLastKey(page);
    await page.keyboard.press(key);
  };
  const breathe = () => page.waitForTimeout(Math.floor(random() * 60));

  const newCode = () => {
    const digits = `${seed}${String((count += 1)).padStart(2, '0')}`.padStart(8, '0');
    const code = pick([`TD${digits}`, `5${digits}`, `T${digits}X`]);
    codes.add(code);
    return code;
  };
  const typeSlowly = (text: string) =>
    pressTimed(
      page,
      [...text].map((key) => ({ key, gapMs: PERSON_MS + Math.floor(random() * 60) })),
    );

  const scanCode = async (code = newCode()) => {
    const before = await look();
    log.push(`scan ${code}`);
    // A weight that stands in the field is saved by the next scan.
    const isNoted = noteSaved(before);
    // A hand needs some time from the keys to the scanner.
    if (random() < 0.7) await page.waitForTimeout(400);
    await pressTimed(page, keysOf(scanner, code));
    // The scanner without an end key needs a pause.
    await page.waitForTimeout(scanner.ends.length === 0 ? 700 : 40);
    if (isNoted && before.code) await forgetIfShown(before.code);
  };

  /** A parcel that is still on the scale was not stored, and the page shows it: a dialog took the key, or the weight was refused. */
  const forgetIfShown = async (code: string) => {
    for (let round = 0; round < 20; round += 1) {
      if ((await look()).code !== code) return;
      await page.waitForTimeout(15);
    }
    log.push(`${code} is still shown`);
    weighed.delete(code);
  };

  const noteSaved = ({ code, isReceived, isOnReceive, weight }: Seen): boolean => {
    const pounds = Number(weight.replace(',', '.').replace(/ ?lb$/, ''));
    const isSaved = code !== null && !isReceived && isOnReceive && /^\d+[.,]?\d* ?(lb)?$/.test(weight.trim());
    if (!isSaved || pounds <= 0 || pounds > 150 || weighed.has(code)) return false;
    weighed.set(code, pounds);
    return true;
  };

  const weigh = async () => {
    const { code, isReceived, isOnReceive, hasDialog, weight } = await look();
    if (!code || isReceived || !isOnReceive || hasDialog) return scanCode();
    const text = pick(['1.5', '2,25', '3', '12.35', '47', '149.999', '0.2', '21.1']);
    if (weight !== '') {
      await page.locator('[name=weight]').focus();
      await press('Control+a');
      await press('Delete');
    }
    const way = pick(['typed', 'clicked', 'scale', 'in two parts']);
    log.push(`weigh ${code} ${text} (${way})`);
    if (way === 'clicked') await page.mouse.click(640, 780);
    if (way === 'scale')
      await pressTimed(
        page,
        [...`${text} lb`].map((key) => ({ key, gapMs: 4 })),
      );
    else if (way === 'in two parts') {
      await typeSlowly(text.slice(0, 1));
      await pick([changePage, reload, help, clickAround])();
      if (!(await look()).isOnReceive) await openReceive();
      await typeSlowly(text.slice(1));
    } else await typeSlowly(text);
    if (way === 'scale') await untilWeightIsShown();
    return pick([enter, enter, enter, scanCode, changePage])();
  };

  /** A scale without an end key needs a pause. */
  const untilWeightIsShown = async () => {
    for (let round = 0; round < 100 && (await look()).weight === ''; round += 1)
      await page.waitForTimeout(20);
  };

  const enter = async () => {
    const seen = await look();
    log.push('Enter');
    const isNoted = !seen.hasDialog && noteSaved(seen);
    await pressTimed(page, [{ key: 'Enter', gapMs: PERSON_MS }]);
    await breathe();
    if (isNoted && seen.code) await forgetIfShown(seen.code);
  };
  const openReceive = async () => {
    await press('Alt+1');
    await page.locator('.menu a[aria-current=page][href="#/receive"]').waitFor();
    await page.waitForTimeout(30);
  };
  const changePage = async () => {
    const digit = pick(['1', '2', '3', '4', '5', '6']);
    log.push(`page ${digit}`);
    await press(`Alt+${digit}`);
    await breathe();
    if (random() < 0.8) await openReceive();
  };
  const reload = async () => {
    log.push('reload');
    await page.reload();
    await page.locator('.workplace').waitFor();
  };
  const help = async () => {
    log.push('dialog');
    await press(pick(['F1', 'F2']));
    await page.locator('dialog[open]').waitFor();
    await breathe();
    await press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
  };
  const clickAround = async () => {
    log.push('click');
    await page.mouse.click(300 + Math.floor(random() * 900), 700 + Math.floor(random() * 90));
  };
  const toggleNetwork = async () => {
    isOffline = !isOffline;
    log.push(isOffline ? 'offline' : 'online');
    await onOffline(isOffline);
  };
  /** The service ends the session. The next call asks for the password over the page. */
  const endSession = async () => {
    if (isOffline) return;
    log.push('session ends');
    await page.evaluate(`fetch('/api/Sessions.php', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer ' + JSON.parse(sessionStorage.getItem('crossdock-session')).token,
      },
      body: '{"action":"logout"}',
    }).then(({ status }) => status)`);
  };
  const logInAgain = async () => {
    const field = page.locator('dialog[open] input[type=password]');
    if (isOffline || (await field.count()) === 0) return;
    log.push('log in again');
    await field.fill(password);
    await press('Enter');
    const dialog = page.locator('dialog[open]');
    await dialog.waitFor({ state: 'detached' }).catch(async (error: unknown) => {
      throw new Error(`The dialog stays: ${(await dialog.allTextContents()).join(' | ')}`, { cause: error });
    });
  };
  const tryToLogOut = async () => {
    const { code, isReceived, hasDialog } = await look();
    if (!code || isReceived || hasDialog) return;
    log.push('log out, stay');
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
  };
  const blindDigits = async () => {
    const { code, isOnReceive, hasDialog, isReceived } = await look();
    // Without a parcel, digits and Enter are a number that somebody types.
    if (hasDialog || !isOnReceive || !code || isReceived) return;
    log.push('digits without focus');
    await page.evaluate('document.activeElement.blur()');
    await typeSlowly('4');
  };
  const chooseCustomer = async () => {
    const field = page.getByLabel('Whose parcel is it?');
    if ((await field.count()) === 0 || (await look()).hasDialog || isOffline) return;
    log.push('choose a customer');
    await field.fill('Campbell');
    const option = page.getByRole('option').first();
    if (
      !(await option.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      ))
    )
      return;
    await press('ArrowDown');
    await press('Enter');
    await breathe();
  };

  const ACTIONS = [
    ...Array<() => Promise<void>>(5).fill(weigh),
    ...Array<() => Promise<void>>(4).fill(scanCode),
    ...Array<() => Promise<void>>(2).fill(changePage),
    ...[
      enter,
      reload,
      help,
      clickAround,
      toggleNetwork,
      endSession,
      tryToLogOut,
      blindDigits,
      chooseCustomer,
    ],
  ];

  return {
    weighed,
    codes,
    log,
    async act() {
      await logInAgain();
      const { hasDialog } = await look();
      // Only the dialog for the password may be open now. Without a connection nobody can log in, so the person goes on scanning.
      if (hasDialog && isOffline) await toggleNetwork();
      else await pick(ACTIONS)();
    },
    async finish() {
      if (isOffline) await toggleNetwork();
      await page.waitForTimeout(50);
      await logInAgain();
      await openReceive();
      // A weight that was typed and not confirmed belongs to a parcel that is still shown.
      // The first Escape may close a list of customers.
      for (let round = 0; round < 5 && (await look()).code; round += 1) await press('Escape');
      // A scan that is sent now may meet a session that has ended.
      const queue = page.getByTestId('queue');
      for (let round = 0; round < 200 && (await queue.textContent())?.trim() !== 'Sent'; round += 1) {
        await logInAgain();
        await page.waitForTimeout(50);
      }
    },
  };
}
