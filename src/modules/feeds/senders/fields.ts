import { NONCHARACTER } from '../../../platform/values/noncharacters.js';

/** A JSON object of another service. Nothing is known of its fields. */
export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** Texts of one line cannot contain them. */
const CONTROLS = new RegExp(`(?:[\\s\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]|${NONCHARACTER})+`, 'g');

/** Halves of a character: the cut leaves one, and JSON may contain them. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** The longest text that can be a tracking number. The contract has the same length. */
const MAX_NUMBER = 255;

/** Returns a tracking number of another service, or null if there is none. A longer text is none: a part of it would be another parcel. */
export const numberOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim().length <= MAX_NUMBER ? lineOf(value, MAX_NUMBER) : null;

/** Returns a text of another service in one line, cut to a length, or null if there is none. */
export function lineOf(value: unknown, maxChars: number): string | null {
  if (typeof value !== 'string') return null;
  // Cut first, so that the time does not depend on what was sent.
  const line = value
    .slice(0, 4 * maxChars)
    .replace(LONE_SURROGATES, '')
    .replace(CONTROLS, ' ')
    .trim();
  return [...line].slice(0, maxChars).join('').trim() || null;
}

const TIME = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}:?\d{2})?$/;
const [EARLIEST, LATEST] = [Date.UTC(2000, 0), Date.UTC(2100, 0)];

/** Returns a time, or null if the text is none. A time without a zone is UTC. */
export function timeOf(value: unknown): Date | null {
  if (typeof value !== 'string') return null;
  const [, time, zone = 'Z'] = TIME.exec(value.trim()) ?? [];
  if (time === undefined) return null;
  const ms = Date.parse(`${time.replace(' ', 'T')}${zone}`);
  return ms >= EARLIEST && ms < LATEST ? new Date(ms) : null;
}
