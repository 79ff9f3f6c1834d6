import type { Page } from 'playwright-core';

const PERSON_MS = 90;
const SCANNER_MS = 5;

/** Types as a person does. */
export const type = (page: Page, text: string) => pressKeys(page, [...text], PERSON_MS);

/** Sends the keys of a scanner, wherever the focus is. */
export const scan = (page: Page, code: string) => pressKeys(page, [...code, 'Enter'], SCANNER_MS);

/** The time of the last key of all. */
let lastMs = 0;

/** Presses keys with their own times, because a busy machine would make a scanner as slow as a person. */
async function pressKeys(page: Page, keys: string[], gapMs: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const startMs = Math.max(Date.now(), lastMs + PERSON_MS);
  lastMs = startMs + (keys.length - 1) * gapMs;
  const sent = keys.flatMap((key, index) => {
    const timestamp = (startMs + index * gapMs) / 1000;
    const text = key === 'Enter' ? '\r' : key;
    // Only letters and digits have the code of their character: that of a full stop is the key Delete.
    const windowsVirtualKeyCode =
      key === 'Enter' ? 13 : /[a-z0-9]/i.test(key) ? key.toUpperCase().charCodeAt(0) : 0;
    const event = { key, windowsVirtualKeyCode, timestamp };
    return [
      session.send('Input.dispatchKeyEvent', { type: 'keyDown', text, unmodifiedText: text, ...event }),
      session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event }),
    ];
  });
  await Promise.all(sent);
  await session.detach();
}
