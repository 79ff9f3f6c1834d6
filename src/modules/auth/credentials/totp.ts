import { randomBytes } from 'node:crypto';
import speakeasy from 'speakeasy';

/** Seconds that a code stands for, and how many steps before and after the current one are taken too. */
const STEP_S = 30;
const WINDOW_STEPS = 1;

/** Ten bytes, in the alphabet of base 32. The library takes an empty secret, and then codes that anybody can make. */
const USABLE_SECRET = /^[A-Z2-7]{16,}=*$/i;

/**
 * The 30-second step (RFC 6238, SHA-1) that `code` belongs to, or undefined when it is not a code of now or a
 * neighbouring step. The caller must take each step once: this file remembers nothing.
 *
 * @param secret base 32
 * @param nowS seconds since the epoch
 */
export function stepOfCode(secret: string, code: string, nowS: number): number | undefined {
  if (!USABLE_SECRET.test(secret)) return undefined;
  // the library reads codes with parseInt, to which 72814x, +72814 and a blank before it are numbers too
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

/** What authenticators recommend for SHA-1, and 32 letters of base 32 without padding. */
const SECRET_BYTES = 20;

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret, base 32. Our own: speakeasy.generateSecret maps random bytes unevenly onto letters and digits, and needs the deprecated Buffer(). */
export function newTotpSecret(): string {
  const bits = Array.from(randomBytes(SECRET_BYTES), (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replace(/.{5}/g, (five) => BASE_32.charAt(parseInt(five, 2)));
}

/** The secret as authenticators read it, from a QR code or a link. */
export function otpauthUri(issuer: string, username: string, secret: string): string {
  const [party, user] = [encodeURIComponent(issuer), encodeURIComponent(username)];
  // a URL's own encoding of a space, the plus sign, is shown as one by authenticators
  return `otpauth://totp/${party}:${user}?secret=${secret}&issuer=${party}&algorithm=SHA1&digits=6&period=${STEP_S}`;
}
