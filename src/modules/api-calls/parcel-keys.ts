import { UUID } from '../../platform/contract/keywords.js';
import { readScan } from '../tracking-numbers/public.js';

/** A key has digits, and no other text: what somebody writes into the field of a number is not kept. */
const KEY = /^(?=.*\d)[0-9A-Z-]{1,64}$/;

/**
 * Returns the keys under which a call is found by what it named: the normal form of one tracking number, or an id in lower case. Empty if
 * the text is neither.
 */
export function parcelKeysOf(text: string): string[] {
  if (UUID.test(text)) return [text.toLowerCase()];
  const [number, another] = readScan(text).numbers;
  return number && !another ? number.keys.filter((key) => KEY.test(key)) : [];
}
