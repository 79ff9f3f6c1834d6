// Finds the keys of a device among those of a person, by the time between them.
import { isScaleText, readWeight } from './scale.js';

/** What a field is for: numbers of parcels, measures of a parcel, or any other text. `none`: no field takes the keys. */
export type Place = 'code' | 'measure' | 'text' | 'none';

/** A person who types fast leaves 60 ms and more between keys. Scanners leave 2 to 30 ms. */
const FAST_MS = 35;
/** So many fast keys in a row come from a device. A person rolls two or three keys at most. */
const FAST_KEYS = 4;
/** Slow devices send steadily. So many keys with such gaps come from a device, although one gap in six may be longer. */
export const STEADY_MS = 60;
const STEADY_KEYS = 5;
const LONGER_GAPS = 1 / 6;
/** The slowest devices, at 120 ms per key and a page that is busy. Only where a person types no text. */
export const SLOW_MS = 160;
const SLOW_KEYS = 4;
/** A person who types so many characters of a text and then scans has typed them. */
const LONGEST_HEAD = 6;
/** A number that was typed so shortly before a scan may be a part of it. */
const CLOSE_MS = 450;
/** The longest pause that a scanner makes among the first keys of a scan. */
const LONGEST_HESITATION_MS = 250;
/** A person who types a weight makes no longer pause between two keys. */
export const TYPING_MS = 700;

/** What ended a chain. */
export type End = 'Enter' | 'Tab' | 'pause';

/** Keys without a longer pause between them. */
export type Keys = {
  characters: string[];
  timesMs: number[];
  place: Place;
  /** What the field contained before, and for how long nothing had been typed. */
  before: string;
  quietMs: number;
  /** Whether a person did something else since the last key: a click, a dialog, another page. */
  isAfterAct: boolean;
};

/**
 * Returns the index of the first key that a device sent, or undefined if a person may have typed all of them. While keys arrive, only
 * fast ones are recognised; a chain that has ended is also examined for slow ones.
 */
export function readKeys(keys: Keys, when: 'running' | End): number | undefined {
  const gapsMs = keys.timesMs.map((timeMs, index) => timeMs - (keys.timesMs[index - 1] ?? timeMs));
  const starts = when === 'running' ? fastStarts(gapsMs) : steadyStarts(gapsMs, paceOf(keys, when));
  return starts.length === 0 ? undefined : firstKey(keys, starts);
}

function fastStarts(gapsMs: number[]): number[] {
  const start = gapsMs.length - FAST_KEYS;
  return start >= 0 && gapsMs.slice(start + 1).every((gapMs) => gapMs <= FAST_MS) ? [start] : [];
}

type Pace = { longestMs: number; keys: number };

/** Keys that no field takes are a device's, also slow ones. So are those for a number that Tab ends: a person confirms it with Enter. */
function paceOf({ place }: Keys, end: End): Pace {
  const isSlow = place === 'none' || (place === 'code' && end === 'Tab');
  return isSlow ? { longestMs: SLOW_MS, keys: SLOW_KEYS } : { longestMs: STEADY_MS, keys: STEADY_KEYS };
}

const steadyStarts = (gapsMs: number[], pace: Pace): number[] =>
  gapsMs.flatMap((_, start) => (isSteady(gapsMs.slice(start + 1), pace) ? [start] : []));

function isSteady(gapsMs: number[], { longestMs, keys }: Pace): boolean {
  const longer = gapsMs.filter((gapMs) => gapMs > longestMs).length;
  return gapsMs.length + 1 >= keys && longer <= Math.floor(gapsMs.length * LONGER_GAPS);
}

/** Returns where the scan begins, whose first keys a Bluetooth connection may have delivered with pauses. */
function firstKey({ characters, timesMs, place }: Keys, starts: number[]): number {
  const headOf = (start: number) => characters.slice(0, start).join('');
  // One slow gap may be among those of a slow device. The last keys of a person before it are no keys of the device for that reason.
  const isFirst = (start: number) => (timesMs[start + 1] ?? 0) - (timesMs[start] ?? 0) <= STEADY_MS;
  if (place === 'text') {
    const first = starts.find(isFirst) ?? 0;
    return first > LONGEST_HEAD ? first : 0;
  }
  if (place === 'code' || place === 'none' || isScaleText(characters.join(''))) return 0;
  // A person typed the point of a weight, whose first digits may have stood in the field before. No barcode begins like that. A letter
  // cannot belong to it.
  const [weight = ''] = /^\d*[.,]\d*(?=[a-z])/i.exec(characters.join('')) ?? [];
  const isBefore = (starts[0] ?? 0) > weight.length;
  const heads = starts.filter((start) => HAS_POINT.test(headOf(start)));
  return heads.find(isFirst) ?? heads[0] ?? (isBefore ? weight.length : 0);
}

const HAS_POINT = /^\d*[.,]\d*$/;
const HAS_DECIMALS = /^\d+[.,]\d+$/;

/** Returns whether the scanner made a pause among the first keys of a scan that stood alone. */
export const isHesitant = ({ timesMs }: Keys): boolean =>
  timesMs.slice(1, FAST_KEYS).some((timeMs, index) => timeMs - (timesMs[index] ?? timeMs) > FAST_MS);

/**
 * Returns whether nobody can tell where the weight of a person ends and the scan begins: the digits that a field contained before may be the
 * first ones of the scan, or the last digit of the weight may be.
 */
export function isUnclear(keys: Keys, from: number, hasHesitated: boolean): boolean {
  const { place, before, quietMs, characters, isAfterAct } = keys;
  if (place !== 'measure') return isInWrongField(keys) || isBesideFields(keys);
  if (from > 0) return hasHesitated && mayEndWithScan(before, characters.slice(0, from).join(''));
  if (/^\d+[.,]\d/.test(characters.join(''))) return true;
  const typed = readWeight(before);
  const isComplete = typed !== undefined && (typed.decimals > 0 || typed.unit !== undefined);
  if (before.trim() === '') return false;
  // A person goes on with a weight after a click or a dialog, however long that took. Nothing follows a unit.
  const isOpen = isAfterAct && typed?.unit === undefined;
  return (quietMs < CLOSE_MS && !isComplete) || (hasSlowHead(keys) && (isOpen || isMidWeight(quietMs)));
}

/**
 * Whether the keys before those of the device may be the rest of a weight: a click, for example on the search for a customer, has taken
 * the focus.
 */
const isInWrongField = (keys: Keys): boolean =>
  hasSlowHead(keys) && (/^[.,]/.test(keys.characters[0] ?? '') || (keys.place === 'text' && keys.isAfterAct));

/**
 * Whether a digit that no field took may be the beginning of a weight: a person types it while the page of the parcel is still opening.
 * Scanners make no such pause among their first keys.
 */
const isBesideFields = ({ place, characters: [first = ''], timesMs }: Keys): boolean =>
  place === 'none' &&
  /[\d.,]/.test(first) &&
  timesMs
    .slice(1, FAST_KEYS)
    .some((timeMs, index) => timeMs - (timesMs[index] ?? timeMs) > LONGEST_HESITATION_MS);

/**
 * Whether the last digit of the weight that a person has typed may be the first one of the scan: without it the weight is complete, or
 * with it still not.
 */
function mayEndWithScan(before: string, head: string): boolean {
  const typed = `${before.trim()}${head}`;
  return /\d$/.test(head) && (HAS_DECIMALS.test(typed.slice(0, -1)) || !HAS_DECIMALS.test(typed));
}

/**
 * Returns where the keys of a device go on after a pause, or undefined. Then it may be a part of the scan that came late, the next scan of a
 * scanner without an end key, or the weight of a person.
 */
export function lastBreak({ timesMs }: Keys, from: number, pauseMs: number): number | undefined {
  const isBreak = (timeMs: number, index: number) =>
    index > from && timeMs - (timesMs[index - 1] ?? timeMs) > pauseMs;
  const start = timesMs.findLastIndex(isBreak);
  return start < 0 ? undefined : start;
}

/** Returns whether the keys from an index on are a weight that a person typed: each of them is slow. */
export const isTypedWeight = (keys: Keys, start: number): boolean =>
  isSlowFrom(keys, start) && readWeight(keys.characters.slice(start).join('')) !== undefined;

/**
 * Returns whether the keys from an index on are a number that a person typed behind a scan without an end key: each of them is slow, and
 * those of the scan were not.
 */
export const isTypedNumber = (keys: Keys, from: number, start: number): boolean =>
  keys.characters.length - start >= FAST_KEYS &&
  isSlowFrom(keys, start) &&
  keys.timesMs
    .slice(from + 1, start)
    .some((timeMs, index) => timeMs - (keys.timesMs[from + index] ?? timeMs) <= FAST_MS);

function isSlowFrom({ timesMs }: Keys, start: number): boolean {
  const rest = timesMs.slice(start);
  return rest.every((timeMs, index) => index === 0 || timeMs - (rest[index - 1] ?? timeMs) > STEADY_MS);
}

/** Digits that a person may have typed right before the fast keys, to end the weight that stands in the field. */
const hasSlowHead = ({ characters: [first = ''], timesMs }: Keys): boolean =>
  /[\d.,]/.test(first) &&
  timesMs.slice(1, FAST_KEYS).some((timeMs, index) => timeMs - (timesMs[index] ?? timeMs) > STEADY_MS);

/** After a reload nobody knows when the last key was pressed. */
const isMidWeight = (quietMs: number): boolean => quietMs < TYPING_MS || quietMs === Infinity;
