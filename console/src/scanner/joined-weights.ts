// A weight of a scale that meets the digits of a person in one field.
import type { Place } from './chain.js';
import { readWeight } from './scale.js';

/** A slow scale sends a key every 120 ms, and the page may be busy. */
const SLOW_MS = 160;
/** Devices leave at most so much between keys, but for single pauses. */
const STEADY_MS = 60;
/** A person who types a weight makes no longer pause between two keys. */
const TYPING_MS = 700;

type Keys = { characters: string[]; timesMs: number[]; place: Place; before: string; quietMs: number };

/**
 * Returns the index of the first key of a slow scale whose weight would be appended to the digits that stand before it, or undefined. A weight
 * with its unit is complete, and comes after a pause.
 */
export function slowWeightStart(keys: Keys): number | undefined {
  if (keys.place !== 'measure') return undefined;
  const start = unitWeightStart(keys);
  if (start !== undefined) return start;
  const isWhole = isUnitWeight(keys.characters.join(''));
  return isWhole && keys.before.trim() !== '' && longestGapMs(keys, 0) <= SLOW_MS ? 0 : undefined;
}

/**
 * Returns whether nobody can tell the weight: the digits right before it may be the first ones of the scale, which made a pause after them, or
 * those of a person.
 */
export function isJoined(keys: Keys, isSlow: boolean): boolean {
  if (keys.place !== 'measure' || !isUnitWeight(keys.characters.join(''))) return false;
  return (
    unitWeightStart(keys) !== undefined || (isSlow && keys.before.trim() !== '' && keys.quietMs <= TYPING_MS)
  );
}

/** Returns where a weight with its unit begins behind other digits and a pause, or undefined. */
function unitWeightStart(keys: Keys): number | undefined {
  const { characters, timesMs } = keys;
  const start = timesMs.findIndex((timeMs, index) => {
    const pauseMs = timeMs - (timesMs[index - 1] ?? timeMs);
    const restMs = longestGapMs(keys, index);
    const isPause = index > 0 && pauseMs > Math.max(STEADY_MS, 2 * restMs) && restMs <= SLOW_MS;
    return isPause && isUnitWeight(characters.slice(index).join(''));
  });
  const head = characters.slice(0, start).join('');
  return start > 0 && /^[\d.,]+$/.test(head) ? start : undefined;
}

const isUnitWeight = (text: string): boolean => readWeight(text)?.unit !== undefined;

const longestGapMs = ({ timesMs }: Keys, start: number): number =>
  Math.max(
    0,
    ...timesMs.slice(start + 1).map((timeMs, index) => timeMs - (timesMs[start + index] ?? timeMs)),
  );
