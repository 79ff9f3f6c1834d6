import { MAX_PASSWORD_BYTES } from './passwords.js';

/** Counted in code points: an emoji of one code point counts once. */
export const MIN_PASSWORD_LENGTH = 12;

/** Why a password is rejected. `message` continues a sentence that begins with the field's name. */
export type PasswordProblem = { code: string; message: string };

/**
 * Returns the problem of a new password, or undefined. A list of common passwords prevents more guesses than
 * composition rules do, so there are no such rules (NIST SP 800-63B, 3.1.1.2).
 * @param names the user's own names, which are guessed first
 */
export async function validatePassword(
  password: string,
  names: string[] = [],
): Promise<PasswordProblem | undefined> {
  if ([...password].length < MIN_PASSWORD_LENGTH)
    return { code: 'minLength', message: `must have ${MIN_PASSWORD_LENGTH} characters or more` };
  if (password.includes('\0')) return { code: 'nul', message: 'must not hold a NUL character' };
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    return { code: 'bytes', message: `must have at most ${MAX_PASSWORD_BYTES} bytes in UTF-8` };
  if (isRepetition(password)) {
    const message = `must not repeat a text shorter than ${MIN_PASSWORD_LENGTH} characters`;
    return { code: 'repeated', message };
  }
  const spellings = [password, withoutPadding(password)].map((each) => each.toLowerCase());
  if (names.some((name) => spellings.includes(name.toLowerCase())))
    return { code: 'personal', message: 'must not be your user name or your full name' };
  const common = await commonPasswords();
  if (spellings.some((each) => common.has(each)))
    return {
      code: 'common',
      message: 'must not be a common password, with digits or signs around it or without',
    };
  return undefined;
}

/** Matches whole code points; otherwise half of a surrogate pair could match. */
function isRepetition(password: string): boolean {
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
