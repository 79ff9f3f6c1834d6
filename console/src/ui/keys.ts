import { useLayoutEffect, useRef } from 'preact/hooks';
import { isWeightText } from '../scanner/scale.js';
import type { Reading, Scan } from '../scanner/scanner.js';
import { MEASURE_NAMES, type MeasureName } from '../staff/parcel.js';
import type { TextKey } from '../texts/en.js';
import { t } from '../texts/texts.js';
import { show } from './outcome.js';

// The page on the screen takes the scans. A page that takes none lets them open Find.

/** Returns `pass` if what lies below takes the reading. */
type Handler = (reading: Reading) => unknown;

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
  for (const handler of handlers.toReversed()) if (handler(reading) !== 'pass') return true;
  return false;
}

/** Takes what scanners and scales send while a page is on the screen. */
export function useReadings(onReading: Handler): void {
  // The handler of the latest rendering, because it reads the page's state.
  const latest = useRef(onReading);
  latest.current = onReading;
  // Before the page is painted, so that no scan falls between.
  useLayoutEffect(() => takeReadings((reading) => latest.current(reading)), []);
}

/** Takes the scans while a page is on the screen. Weights of a scale belong to Receive, so the page says what the scale has sent. */
export function useScans(onScan: (scan: Scan) => void, onWeight = showScale): void {
  useReadings((reading) => {
    if (reading.kind === 'unclear') showUnclear(reading);
    else if (reading.kind === 'weight') onWeight(reading.text);
    else if (isWeightText(reading.scan.text)) onWeight(reading.scan.text);
    else onScan(reading.scan);
  });
}

/** Says that nobody has asked for the weight of a scale. */
export const showScale = (weight: string): void =>
  show('warn', t('word.noWeightHere'), t('scale.elsewhere', { weight }));
/** Returns the measure whose field has the focus, otherwise the weight. */
export function focusedMeasure(): MeasureName {
  const name = document.activeElement instanceof HTMLInputElement ? document.activeElement.name : '';
  return MEASURE_NAMES.find((each) => each === name) ?? 'weight';
}

/** Nothing was taken: says what to repeat. */
export const showUnclear = ({ beside }: Unclear): void =>
  show('bad', t(beside === 'scale' ? 'word.weighAgain' : 'word.scanAgain'), t(UNCLEAR[beside]));

type Unclear = Extract<Reading, { kind: 'unclear' }>;

const UNCLEAR = {
  scan: 'receive.scansJoined',
  weight: 'receive.scanAgain',
  scale: 'receive.weighAgain',
} as const satisfies Record<Unclear['beside'], TextKey>;
