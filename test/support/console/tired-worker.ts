import type { Page } from 'playwright-core';
import { PERSON_MS } from '../../../scripts/measure/bench-console/keys.js';
import { pressTimed, untilLastKey } from './browser.js';
import { keysOf, RECORDED_SCANNERS } from './recorded-scanners.js';
import { makeHands, randomOf, type Hands, type Seen } from './tired-hands.js';
import { clickLogOut, endSession, logInAgain, logInFresh, type Account } from './tired-sessions.js';

export type Worker = {
  /** The weights of the parcels that were scanned and weighed. */
  weighed: Map<string, number>;
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
  account: Account;
  /** Everything that was scanned or typed as a number at this station. A scan without an end key may come to the next person. */
  codes: Set<string>;
  onOffline: (isOffline: boolean) => Promise<void>;
};

const WEIGHTS = ['1.5', '2,25', '3', '12.35', '47', '149.999', '0.2', '21.1'];
/** Weights that the page refuses or asks about. Only the next scan or Enter shows it. */
const ODD_WEIGHTS = ['0', '325', '1.2345', '.', '5 stone'];

const CORRECTION = 'Correct a parcel';
const DIALOGS = [
  ['F1', 'Keys'],
  ['F2', CORRECTION],
] as const;

/** A tired person at a station, with any of the recorded scanners. */
export function makeWorker({ page, seed, account, codes, onOffline }: Options): Worker {
  const hands = makeHands(page, randomOf(seed));
  const { random, pick, look, press, type, breathe } = hands;
  const scanner = pick(RECORDED_SCANNERS);
  const weighed = new Map<string, number>();
  let serial = 0;
  const log: string[] = [scanner.name];
  let isOffline = false;

  const newCode = () => {
    serial += 1;
    const digits = `${seed}${String(serial).padStart(2, '0')}`.padStart(8, '0');
    const code = pick([`TD${digits}`, `5${digits}`, `T${digits}X`]);
    codes.add(code);
    return code;
  };

  /** Does what may save the parcel, and notes its weight if it is not on the scale afterwards. */
  const saving = async (before: Seen, doIt: () => Promise<void>) => {
    const pounds = poundsOf(before);
    const { code } = before;
    // A number that nobody scanned is not expected anywhere.
    const isNew = pounds !== undefined && code !== null && codes.has(code) && !weighed.has(code);
    if (isNew) weighed.set(code, pounds);
    await doIt();
    if (isNew) await forgetIfShown(code);
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

  const scanCode = async (code = newCode()) => {
    log.push(`scan ${code}`);
    // A weight that stands in the field is saved by the next scan.
    await saving(await look(), async () => {
      // A hand needs some time from the keys to the scanner.
      await untilLastKey(page);
      await page.waitForTimeout(pick([120, 400]));
      await pressTimed(page, keysOf(scanner, code));
      // The scanner without an end key needs a pause.
      await page.waitForTimeout(scanner.ends.length === 0 ? 700 : 40);
    });
  };

  /** A barcode that cannot be scanned. */
  const typeCode = async () => {
    const { code, isOnReceive, hasDialog } = await look();
    if (code || !isOnReceive || hasDialog) return scanCode();
    const typed = newCode();
    log.push(`type ${typed}`);
    return type(typed, 'Enter');
  };

  const weigh = async () => {
    const { code, isReceived, isOnReceive, hasDialog, weight, second } = await look();
    if (!code || isReceived || !isOnReceive || hasDialog) return scanCode();
    if (second) return pick([choose, choose, scanCode])();
    if (weight !== '') await clearWeight();
    const way = pick(['typed', 'clicked', 'scale', 'in two parts']);
    const text = pick(way !== 'scale' && random() < 0.1 ? ODD_WEIGHTS : WEIGHTS);
    log.push(`weigh ${code} ${text} (${way})`);
    if (way === 'clicked') await click(640, 780);
    if (way === 'scale') await weighByScale(hands, text);
    else if (way === 'in two parts') {
      await type(text.slice(0, 1));
      await pick([changePage, reload, help, clickAround])();
      if (!(await look()).isOnReceive) await openReceive();
      await type(text.slice(1));
    } else await type(text);
    return pick([enter, enter, enter, scanCode, changePage, pressReceiveTwice])();
  };
  /** Says which of two numbers is on the scale. */
  const choose = async () => {
    const { code, second, hasDialog, isOnReceive } = await look();
    if (!code || !second || hasDialog || !isOnReceive) return;
    const way = pick(['first', 'second', 'one', 'scan first', 'scan second']);
    log.push(`choose ${way} of ${code} and ${second}`);
    if (way === 'scan first') return scanCode(code);
    if (way === 'scan second') return scanCode(second);
    const names = { first: `${code} is on the scale`, second: `${second} is on the scale` };
    const name = way === 'first' || way === 'second' ? names[way] : 'Two labels on one parcel';
    await untilLastKey(page);
    // The login may have come in front of it.
    await page
      .getByRole('button', { name, exact: true })
      .click({ timeout: 2_000 })
      .catch(() => undefined);
  };
  const clearWeight = async () => {
    const field = page.locator('[name=weight]');
    // The next parcel may have come meanwhile.
    if ((await field.count()) === 0) return;
    await field.focus();
    await press('Control+a');
    await press('Delete');
  };

  const enter = async () => {
    log.push('Enter');
    await saving(await seenWithoutDialog(), () => pressTimed(page, [{ key: 'Enter', gapMs: PERSON_MS }]));
  };
  /** A double click does one step. */
  const pressReceiveTwice = async () => {
    const seen = await look();
    if (seen.hasDialog || !seen.isOnReceive || !seen.code || seen.isReceived) return;
    const button = page.getByRole('button', { name: pick([/^Receive Enter$/, 'Receive and hold']) });
    if ((await button.count()) === 0) return;
    log.push('click twice');
    await untilLastKey(page);
    // The parcel may be gone before the second click, or the login in front of it.
    await saving(seen, () => button.dblclick({ timeout: 2_000 }).catch(() => undefined));
  };
  const seenWithoutDialog = async (): Promise<Seen> => {
    const seen = await look();
    return seen.hasDialog ? { ...seen, code: null } : seen;
  };

  const answerLogin = async (): Promise<boolean> => {
    if (isOffline || !(await logInAgain(hands, account))) return false;
    log.push('logged in again');
    return true;
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
    const [key, title] = pick(DIALOGS);
    log.push(`dialog ${key}`);
    await press(key);
    await page.getByRole('dialog', { name: title }).waitFor();
    await breathe();
    await closeDialog(title);
  };
  const closeDialog = async (title: string) => {
    const dialog = page.getByRole('dialog', { name: title });
    for (let round = 0; round < 5 && (await dialog.count()) > 0; round += 1) {
      // The login may have come in front of it.
      await answerLogin();
      await press('Escape');
      await breathe();
    }
    await dialog.waitFor({ state: 'detached' });
  };
  /** Clicks beside everything that does something: a click on the confirmation of a weight would confirm it. */
  const click = async (x: number, y: number) => {
    await untilLastKey(page);
    const isControl = await page.evaluate<boolean>(
      `document.elementFromPoint(${x}, ${y})?.closest('button, a, input, select, summary, label') instanceof Element`,
    );
    if (!isControl) await page.mouse.click(x, y);
  };
  const clickAround = async () => {
    log.push('click');
    await click(300 + Math.floor(random() * 900), 700 + Math.floor(random() * 90));
  };
  const toggleNetwork = async () => {
    isOffline = !isOffline;
    log.push(isOffline ? 'offline' : 'online');
    await onOffline(isOffline);
  };
  const expire = async () => {
    if (isOffline) return;
    log.push('session ends');
    await endSession(hands);
  };

  /** Corrects the weight of the parcel that was received last. */
  const correct = async () => {
    if ((await look()).hasDialog) return;
    await press('F2');
    const dialog = page.getByRole('dialog', { name: CORRECTION });
    await dialog.waitFor();
    const text = pick(WEIGHTS);
    const shown = (await dialog.textContent()) ?? '';
    const code = [...weighed.keys()].find((each) => shown.includes(each));
    // A parcel of an earlier sequence keeps its weight.
    if (code === undefined) return closeDialog(CORRECTION);
    log.push(`correct ${code} ${text}`);
    await press('Control+a');
    await type(text);
    if (await answerLogin()) {
      // The keys went to the login, which came in front.
      await press('Control+a');
      await type(text);
    }
    await type('', 'Enter');
    await dialog.waitFor({ state: 'detached' });
    weighed.set(code, Number(text.replace(',', '.')));
  };

  const tryToLogOut = async () => {
    const { code, isReceived, hasDialog } = await look();
    if (!code || isReceived || hasDialog) return;
    log.push('log out, stay');
    if (!(await clickLogOut(hands))) return;
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
  };
  const logOut = async () => {
    const seen = await look();
    if (seen.hasDialog || isOffline) return;
    log.push('log out');
    if (!(await clickLogOut(hands))) return;
    const receive = page.getByRole('button', { name: /^Receive it with/ });
    const drop = page.getByRole('button', { name: /^Do not receive it/ });
    const entrance = page.getByLabel('User name');
    await drop.or(entrance).first().waitFor();
    if ((await receive.count()) > 0) {
      // A weight that the page asks about stays on the scale.
      await saving({ ...seen, isOnReceive: true }, () => receive.click());
      if (!(await entrance.isVisible()) && !(await appears(entrance))) return;
    } else if ((await drop.count()) > 0) await drop.click();
    await entrance.waitFor();
    await logInFresh(hands, account);
  };
  const appears = (entrance: ReturnType<Page['getByLabel']>) =>
    entrance.waitFor({ timeout: 1_000 }).then(
      () => true,
      () => false,
    );

  const blindDigits = async () => {
    const { code, isOnReceive, hasDialog, isReceived, second } = await look();
    if (second) return choose();
    // Without a parcel, digits and Enter are a number that somebody types.
    if (hasDialog || !isOnReceive || !code || isReceived) return;
    log.push('digits without focus');
    await page.evaluate('document.activeElement.blur()');
    await type('4');
  };
  const chooseCustomer = async () => {
    const field = page.getByLabel('Whose parcel is it?');
    if ((await field.count()) === 0 || (await look()).hasDialog || isOffline) return;
    log.push('choose a customer');
    // The next parcel may have come meanwhile.
    const isFilled = await field.fill('Campbell', { timeout: 2_000 }).then(
      () => true,
      () => false,
    );
    if (!isFilled) return;
    const option = page.getByRole('option').first();
    const isListed = await option.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
    if (!isListed) return;
    await press('ArrowDown');
    await press('Enter');
    await breathe();
  };

  const ACTIONS = [
    ...Array<() => Promise<void>>(6).fill(weigh),
    ...Array<() => Promise<void>>(4).fill(scanCode),
    ...Array<() => Promise<void>>(2).fill(changePage),
    enter,
    typeCode,
    correct,
    reload,
    help,
    clickAround,
    toggleNetwork,
    expire,
    tryToLogOut,
    logOut,
    blindDigits,
    chooseCustomer,
  ];

  return {
    weighed,
    log,
    async act() {
      // The account's dialog stays open if the login came in front of it.
      if ((await answerLogin()) && (await look()).hasDialog) await press('Escape');
      const { hasDialog, weight } = await look();
      if (weight !== '') log.push(`(weight ${weight})`);
      // Only the dialog for the password may be open now. Without a connection nobody can log in, so the person goes on scanning.
      if (hasDialog && isOffline) await toggleNetwork();
      else await pick(ACTIONS)();
    },
    async finish() {
      if (isOffline) await toggleNetwork();
      await page.waitForTimeout(50);
      await answerLogin();
      await openReceive();
      // A weight that was typed and not confirmed belongs to a parcel that is still shown.
      // The first Escape may close a list of customers.
      for (let round = 0; round < 5 && (await look()).code; round += 1) await press('Escape');
      // A scan that is sent now may meet a session that has ended.
      const queue = page.getByTestId('queue');
      for (let round = 0; round < 200 && (await queue.textContent())?.trim() !== 'Sent'; round += 1) {
        await answerLogin();
        await page.waitForTimeout(50);
      }
    },
  };
}

/** The weight that Enter or the next scan stores, if the page takes it without a question. */
function poundsOf({ code, isReceived, isOnReceive, weight, second }: Seen): number | undefined {
  if (
    code === null ||
    second !== null ||
    isReceived ||
    !isOnReceive ||
    !/^\d+[.,]?\d* ?(lb)?$/.test(weight.trim())
  )
    return undefined;
  const pounds = Number(weight.replace(',', '.').replace(/ ?lb$/, ''));
  return pounds > 0 && pounds <= 150 && !/\.\d{4}/.test(String(pounds)) ? pounds : undefined;
}

/** Waits until the page has the weight, because a scale without an end key needs a pause. */
async function weighByScale({ page, look }: Hands, text: string): Promise<void> {
  const keys = [...`${text} lb`].map((key) => ({ key, gapMs: 4 }));
  await pressTimed(page, keys);
  for (let round = 0; round < 100 && (await look()).weight === ''; round += 1) await page.waitForTimeout(20);
}
