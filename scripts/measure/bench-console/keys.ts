import type { CDPSession, Page } from 'playwright-core';

export const PERSON_MS = 90;
const SCANNER_MS = 5;

/** Types as a person does. */
export const type = (page: Page, text: string) => pressKeys(page, [...text], PERSON_MS);

/** Sends the keys of a scanner, wherever the focus is. */
export const scan = (page: Page, code: string) => pressKeys(page, [...code, 'Enter'], SCANNER_MS);

/** The time of the last key of each page. */
const lastKeys = new WeakMap<Page, number>();
const lastMsOf = (page: Page) => lastKeys.get(page) ?? 0;

/** Presses keys with their own times, because a busy machine would make a scanner as slow as a person. */
const pressKeys = (page: Page, keys: string[], gapMs: number): Promise<void> =>
  pressTimed(
    page,
    keys.map((key, index) => ({ key, gapMs: index === 0 ? 0 : gapMs })),
  );

/** Presses keys, each so long after the one before. */
export async function pressTimed(page: Page, keys: { key: string; gapMs: number }[]): Promise<void> {
  const session = await sessionOf(page);
  let timeMs = Math.max(Date.now(), lastMsOf(page) + PERSON_MS);
  const sent = keys.flatMap(({ key, gapMs }) => {
    timeMs += gapMs;
    const text = TEXTS[key] ?? key;
    // Only letters and digits have the code of their character: that of a full stop is the key Delete.
    const windowsVirtualKeyCode = CODES[key] ?? (/[a-z0-9]/i.test(key) ? key.toUpperCase().charCodeAt(0) : 0);
    const event = { key, windowsVirtualKeyCode, timestamp: timeMs / 1000 };
    return [
      session.send('Input.dispatchKeyEvent', { type: 'keyDown', text, unmodifiedText: text, ...event }),
      session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event }),
    ];
  });
  lastKeys.set(page, timeMs);
  await Promise.all(sent);
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** One session for the life of a page. Attaching one for each code cost more than its keys. */
function sessionOf(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  return session;
}

/** Waits until the clock has reached the time of the last key, before keys with the time of the clock are pressed. */
export const untilLastKey = (page: Page): Promise<void> =>
  page.waitForTimeout(Math.max(0, lastMsOf(page) + 2 * PERSON_MS - Date.now()));

const TEXTS: Record<string, string> = { Enter: '\r', Tab: '' };
const CODES: Record<string, number> = { Enter: 13, Tab: 9 };
