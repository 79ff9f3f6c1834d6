import { PUBLISHED } from '../../../config/published.js';
import type { FieldProblem } from '../../../platform/errors/errors.js';
import { MAX_PASSWORD_BYTES } from './passwords.js';

/** Counted in code points: an emoji of one code point counts once. */
const MIN_PASSWORD_LENGTH = 12;

/**
 * Returns the problem of a new password, or undefined. A list of common passwords prevents more guesses than
 * composition rules do, so there are no such rules (NIST SP 800-63B, 3.1.1.2). The published password of the demo data counts as
 * one: a user who chose it could not log in outside of development.
 *
 * @param names the user's own names, which are guessed first
 */
export async function validatePassword(
  password: string,
  names: string[] = [],
): Promise<FieldProblem | undefined> {
  if ([...password].length < MIN_PASSWORD_LENGTH) return ['minLength', { limit: MIN_PASSWORD_LENGTH }];
  if (password.includes('\0')) return ['nul'];
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return ['bytes', { limit: MAX_PASSWORD_BYTES }];
  if (isRepetition(password)) return ['repetition', { limit: MIN_PASSWORD_LENGTH }];
  const spellings = [password, withoutPadding(password)].map((each) => each.toLowerCase());
  if (names.some((name) => spellings.includes(name.toLowerCase()))) return ['personal'];
  const common = await commonPasswords();
  if (spellings.some((each) => each === PUBLISHED.password || common.has(each))) return ['common'];
  return undefined;
}

/** Quadratic in at most `MAX_PASSWORD_BYTES`. Matches whole code points; otherwise half of a surrogate pair could match. */
function isRepetition(password: string): boolean {
  // oxlint-disable-next-line regexp/no-super-linear-backtracking -- a password is short
  const [, unit] = /^(.+?)\1+$/su.exec(password) ?? [];
  return unit !== undefined && [...unit].length < MIN_PASSWORD_LENGTH;
}

/** The list also contains shorter words, which would reject passwords that only contain a common syllable. */
const MIN_CORE_LENGTH = 4;

/**
 * Returns the password without leading and trailing digits and signs, which people add to make a word long
 * enough.
 */
function withoutPadding(password: string): string {
  // oxlint-disable-next-line regexp/no-super-linear-move -- a password is short
  const core = password.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return core.length < MIN_CORE_LENGTH ? password : core;
}

let loading: Promise<Set<string>> | undefined;

/**
 * Returns the published list in lower case: 49,000 entries, 16 MB. Loaded in 30 ms when the first password is
 * set.
 */
function commonPasswords(): Promise<Set<string>> {
  loading ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].map((each) => each.toLowerCase())),
  );
  return loading;
}
