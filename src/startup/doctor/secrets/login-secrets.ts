import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

/** A line of the pooler's file. `password` is a password or, as in PostgreSQL, its md5 or SCRAM form. */
export type StoredLogin = { login: string; password: string };

/** PostgreSQL uses 4096. More would keep a damaged file busy for minutes. */
const MAX_ITERATIONS = 1_000_000;

/** Whether a password is the one of a line. */
export function isPassword(password: string, { login, password: stored }: StoredLogin): boolean {
  if (stored.startsWith('md5')) return stored === `md5${md5(password + login)}`;
  const [, iterations = '', salt = '', storedKey = ''] =
    /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):/.exec(stored) ?? [];
  const count = Number(iterations);
  if (count < 1 || count > MAX_ITERATIONS) return stored === password;
  // RFC 5802. PostgreSQL also normalises the password, which changes nothing in ASCII.
  const salted = pbkdf2Sync(password.normalize('NFKC'), Buffer.from(salt, 'base64'), count, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  return createHash('sha256').update(clientKey).digest('base64') === storedKey;
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
