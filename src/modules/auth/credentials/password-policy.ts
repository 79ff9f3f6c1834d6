import type { FieldProblem } from '../../../platform/errors/errors.js';
import { MAX_PASSWORD_BYTES } from './passwords.js';

/** In characters: an emoji is one. */
export const MIN_PASSWORD_LENGTH = 12;

/**
 * What is wrong with a new password, or undefined. A list of what people choose stops more guesses than rules on
 * capitals and digits do (NIST SP 800-63B, 3.1.1.2): there are none.
 *
 * @param names the user's own, which a guess tries first
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
  if (spellings.some((each) => common.has(each))) return ['common'];
  return undefined;
}

/** Characters are whole code points, or half an emoji would be repeated. */
function isRepetition(password: string): boolean {
  const [, unit] = /^(.+?)\1+$/su.exec(password) ?? [];
  return unit !== undefined && [...unit].length < MIN_PASSWORD_LENGTH;
}

/** Shorter ones are in the list as well, and would forbid what has no word in it but a syllable. */
const MIN_CORE_LENGTH = 4;

/** The password without the digits and signs that people put around a word to make it long enough. */
function withoutPadding(password: string): string {
  const core = password.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return core.length < MIN_CORE_LENGTH ? password : core;
}

let loading: Promise<Set<string>> | undefined;

/** The published list, in lower case. 49,000 entries, loaded when the first password is set: 16 MB, 30 ms. */
function commonPasswords(): Promise<Set<string>> {
  loading ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].map((each) => each.toLowerCase())),
  );
  return loading;
}
