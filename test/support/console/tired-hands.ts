import type { Page } from 'playwright-core';
import { PERSON_MS } from '../../../scripts/measure/bench-console/keys.js';
import { pressTimed, untilLastKey } from './browser.js';

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
export type Seen = {
  code: string | null;
  isReceived: boolean;
  isOnReceive: boolean;
  hasDialog: boolean;
  weight: string;
  /** Another number, scanned before the parcel had its weight. No weight is taken until the person has chosen. */
  second: string | null;
};

const LOOK = `(() => {
  const { parcel, measures, second } = JSON.parse(sessionStorage.getItem('crossdock-work') ?? '{}');
  return {
    code: parcel?.scan ?? null,
    isReceived: (parcel?.resolution?.matches.packages.length ?? 0) > 0,
    isOnReceive: document.querySelector('.menu a[aria-current=page]')?.hash === '#/receive',
    hasDialog: document.querySelector('dialog[open]') !== null,
    weight: measures?.weight ?? '',
    second: second ?? null,
  };
})()`;

/** A person's eyes and hands. Keys have the times of a person. */
export type Hands = {
  page: Page;
  random: () => number;
  pick: <Item>(items: readonly Item[]) => Item;
  look: () => Promise<Seen>;
  press: (key: string) => Promise<void>;
  type: (text: string, lastKey?: 'Enter' | 'Tab') => Promise<void>;
  /** Does nothing for a moment. */
  breathe: () => Promise<void>;
};

export function makeHands(page: Page, random: () => number): Hands {
  return {
    page,
    random,
    pick: (items) => {
      const item = items[Math.floor(random() * items.length)];
      if (item === undefined) throw new Error('There is nothing to pick.');
      return item;
    },
    look: () => page.evaluate<Seen>(LOOK),
    press: async (key) => {
      await untilLastKey(page);
      await page.keyboard.press(key);
    },
    type: (text, lastKey) =>
      pressTimed(
        page,
        [...text, ...(lastKey ? [lastKey] : [])].map((key) => ({
          key,
          gapMs: PERSON_MS + Math.floor(random() * 60),
        })),
      ),
    breathe: () => page.waitForTimeout(Math.floor(random() * 60)),
  };
}
