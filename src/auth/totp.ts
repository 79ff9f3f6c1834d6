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
