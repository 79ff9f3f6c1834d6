import { chromium, type Page } from 'playwright-core';
import { scan, type } from './keys.js';

export type Station = {
  /** Opens a page of the console. */
  open(page: string): Promise<void>;
  /** Scans a code. Returns the milliseconds from its last key until the screen shows what the expression describes. */
  scan(code: string, isShown: string): Promise<number>;
  typeAndEnter(text: string, isShown: string): Promise<number>;
  close(): Promise<void>;
};

const PATIENCE_MS = 20_000;

// Before the scripts of the page, because the console's own listener lets no other have the keys of a scanner.
const LISTEN = `addEventListener('keydown', ({ key }) => key === 'Enter' && globalThis.onEnter?.(), true)`;

/**
 * Starts the clock at the next Enter, and stops it when the frame that shows the result was painted: a callback that is queued
 * in the frame runs after the painting.
 */
const measureNext = (isShown: string) => `globalThis.measured = new Promise((resolve, reject) => {
  const shown = () => document.getElementById('content').innerText;
  setTimeout(() => reject(new Error('The result is not on the screen: ' + shown())), ${PATIENCE_MS});
  globalThis.onEnter = () => {
    globalThis.onEnter = undefined;
    const startedMs = performance.now();
    const look = () => {
      if (!(${isShown})) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now() - startedMs);
        port2.postMessage(null);
      });
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  };
})`;

/** Logs in to the console as the tenant's administrator. */
export async function openStation(address: string): Promise<Station> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript(LISTEN);
  await page.goto(`${address}/console`);
  // A print dialog would stop the page.
  await page.evaluate(
    `localStorage.setItem('crossdock-device', '{"labels":"off","hasSound":true,"language":"en"}')`,
  );
  await page.reload();
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill('crossdock-demo');
  await page.keyboard.press('Enter');
  await page.locator('.workplace').waitFor();
  const measure = async (isShown: string, press: () => Promise<void>) => {
    await page.evaluate(`void (${measureNext(isShown)})`);
    await press();
    return Number(await page.evaluate('globalThis.measured'));
  };
  return {
    async open(name) {
      await page.evaluate(`location.hash = '#/${name}'`);
      await page.locator(`.menu a[aria-current=page][href="#/${name}"]`).waitFor();
    },
    scan: (code, isShown) => measure(isShown, () => scan(page, code)),
    typeAndEnter: (text, isShown) => measure(isShown, () => enter(page, text)),
    close: () => browser.close(),
  };
}

async function enter(page: Page, text: string): Promise<void> {
  await type(page, text);
  await page.keyboard.press('Enter');
}
