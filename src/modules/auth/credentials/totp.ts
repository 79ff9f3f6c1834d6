import { randomBytes } from 'node:crypto';
import speakeasy from 'speakeasy';

/**
 * The validity of a code in seconds, and the number of steps before and after the current one that are
 * accepted.
 */
const STEP_S = 30;
const WINDOW_STEPS = 1;

/** At least ten bytes in base 32. The library accepts an empty secret, whose codes anybody can compute. */
const USABLE_SECRET = /^[A-Z2-7]{16,}=*$/i;

/**
 * Returns the 30-second step (RFC 6238, SHA-1) of a code, or undefined if it is not the code of the current
 * or an adjacent step. The caller must ensure that each step is accepted only once.
 * @param secret base 32
 * @param nowS seconds since the epoch
 */
export function stepOfCode(secret: string, code: string, nowS: number): number | undefined {
  if (!USABLE_SECRET.test(secret)) return undefined;
  // The library parses codes with parseInt, which accepts 72814x, +72814 and leading spaces.
  if (!/^\d{6}$/.test(code)) return undefined;
  const found = speakeasy.totp.verifyDelta({
    secret,
    encoding: 'base32',
    token: code,
    time: nowS,
    step: STEP_S,
    window: WINDOW_STEPS,
  });
  return found && Math.floor(nowS / STEP_S) + found.delta;
}

/** The length recommended for SHA-1; it encodes to 32 characters of base 32 without padding. */
const SECRET_BYTES = 20;

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Returns a new secret in base 32. Our own: speakeasy.generateSecret maps random bytes unevenly onto letters and
 * digits, and needs the deprecated Buffer().
 */
export function newTotpSecret(): string {
  const bits = Array.from(randomBytes(SECRET_BYTES), (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replace(/.{5}/g, (five) => BASE_32.charAt(parseInt(five, 2)));
}

/** Returns the otpauth URI that authenticators read from a QR code or a link. */
export function otpauthUri(issuer: string, username: string, secret: string): string {
  const [party, user] = [encodeURIComponent(issuer), encodeURIComponent(username)];
  // Encoded with %20: authenticators would show a plus sign literally.
  return `otpauth://totp/${party}:${user}?secret=${secret}&issuer=${party}&algorithm=SHA1&digits=6&period=${STEP_S}`;
}
