// A weight of a scale that meets the digits of a person in one field.
import { SLOW_MS, STEADY_MS, TYPING_MS, type Keys } from './chain.js';
import { isScaleText, readWeight } from './scale.js';

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
 * Returns whether nobody can tell the weight: the digits right before it, also those in the field, may be the first ones of the scale, which made a
 * pause after them, or those of a person. Nothing follows a unit.
 */
export function isJoined(keys: Keys, isSlow: boolean): boolean {
  if (keys.place !== 'measure' || !isUnitWeight(keys.characters.join(''))) return false;
  if (unitWeightStart(keys) !== undefined) return true;
  if (keys.before.trim() === '' || keys.quietMs > TYPING_MS) return false;
  // A fast scale has made no pause if a person has opened a dialog, for example, since the last key.
  return isSlow || (!keys.isAfterAct && readWeight(keys.before)?.unit === undefined);
}

/**
 * Returns what a scale sent that left a longer gap behind the first digits of its weight, so that they look like a person's: the whole weight,
 * or `unclear` if they may be a person's. Undefined if the keys from an index on are no weight.
 */
export function wholeWeight(keys: Keys, from: number): { text: string } | 'unclear' | undefined {
  const { characters, place } = keys;
  if (place !== 'measure' || from === 0 || !isScaleText(characters.slice(from).join(''))) return undefined;
  const text = characters.join('').trim();
  return isUnitWeight(text) && longestGapMs(keys, 0) <= STEADY_MS ? { text } : 'unclear';
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
