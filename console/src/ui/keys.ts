import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Reading, Scan } from '../scanner/scanner.js';
import { t } from '../texts/texts.js';
import { show } from './outcome.js';

// The page on the screen takes the scans. A page that takes none lets them open Find.

type Handler = (reading: Reading) => void;

let handlers: Handler[] = [];

/** Gives the scans to a page while it is on the screen. The latest handler has them. */
function takeReadings(handler: Handler): () => void {
  handlers = [...handlers, handler];
  return () => {
    handlers = handlers.filter((each) => each !== handler);
  };
}

/** Returns whether a page has taken what a device sent. */
export function giveReading(reading: Reading): boolean {
  const handler = handlers.at(-1);
  handler?.(reading);
  return handler !== undefined;
}

/** Takes what scanners and scales send while a page is on the screen. */
export function useReadings(onReading: Handler): void {
  // The handler of the latest rendering, because it reads the page's state.
  const latest = useRef(onReading);
  latest.current = onReading;
  // Before the page is painted, so that no scan falls between.
  useLayoutEffect(() => takeReadings((reading) => latest.current(reading)), []);
}

/** Takes the scans while a page is on the screen. Weights of a scale belong to Receive. */
export function useScans(onScan: (scan: Scan) => void): void {
  useReadings((reading) => {
    if (reading.kind === 'scan') onScan(reading.scan);
    else if (reading.kind === 'unclear') showUnclear(reading);
  });
}

/** Nothing was taken: says what to repeat. */
export const showUnclear = ({ beside }: Extract<Reading, { kind: 'unclear' }>): void =>
  show('bad', t('word.scanAgain'), t(beside === 'scan' ? 'receive.scansJoined' : 'receive.scanAgain'));
