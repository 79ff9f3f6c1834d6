import type { Call } from './call.js';
import { CrossdockError } from './errors.js';
import { login } from './generated/core/sdk.gen.js';
import type { LoginGrant, LoginResult } from './generated/core/types.gen.js';

/** The credential that calls are sent with. */
export type Credential = {
  get(): Promise<string>;
  /** Called after 401. Returns whether get() may now return another credential than `used`. */
  renew(used: string): boolean;
  /** An API key, which is sent in a header of its own. */
  isKey?: boolean;
};

export type Account = {
  username: string;
  password: string;
  /** Returns a six-digit code or a backup code. Called at each login of a user with a second factor. */
  secondFactor?: (() => string | Promise<string>) | undefined;
};

/** A credential that does not change: an API key, or a token. */
export const fixedCredential = (value: string, isKey = false): Credential => ({
  get: () => Promise.resolve(value),
  renew: () => false,
  isKey,
});

/** An API key, or a service token. A key has hexadecimal digits only. */
export const keyCredential = (value: string): Credential => fixedCredential(value, !value.startsWith('cdk_'));

export type Grants<Grant> = Credential & { grant(): Promise<Grant> };

/** A credential that `obtain` returns at the first call, and again after 401. Concurrent calls share one `obtain`. */
export function renewedCredential<Grant>(
  obtain: () => Grant | Promise<Grant>,
  valueOf: (grant: Grant) => string,
): Grants<Grant> {
  let current: Promise<Grant> | undefined;
  let value: string | undefined;
  const start = async () => {
    try {
      const grant = await obtain();
      value = valueOf(grant);
      return grant;
    } catch (error) {
      current = undefined;
      throw error;
    }
  };
  const grant = () => (current ??= start());
  return {
    grant,
    get: async () => valueOf(await grant()),
    renew(used) {
      // Otherwise another call has already renewed it, or is about to.
      if (used === value) {
        value = undefined;
        current = undefined;
      }
      return true;
    },
  };
}

/** Logs in, with the second factor if the user has one. */
export async function logIn(call: Call, { username, password, secondFactor }: Account): Promise<LoginGrant> {
  // A repeated login only creates another session. A code is valid once.
  const enter = (body: object, repeat: 'safe' | 'never') =>
    call.json<LoginResult>(login, { body }, {}, { id: 'login', repeat, isPublic: true });
  const first = await enter({ action: 'login', username, password }, 'safe');
  if (first.status === 'success') return first.data;
  if (!secondFactor)
    throw new CrossdockError(
      `The user ${username} has a second factor. Pass \`secondFactor\` to the client.`,
    );
  const code = await secondFactor();
  const second = await enter(
    { action: 'verify_2fa', preauth_token: first.data.preauth_token, code },
    'never',
  );
  if (second.status === 'success') return second.data;
  throw new CrossdockError('The service asked for a second factor twice.');
}
