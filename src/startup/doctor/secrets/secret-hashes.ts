import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { SecretValue, SecretValues } from './secret-values.js';

/**
 * The hashes of an installation's secrets in a report of doctor, which a later run compares with its own.
 *
 * The keys are random, but a person may have chosen the password of a database, and the report may be copied. A fast hash would let
 * everybody who has the report test billions of passwords per second, also an HMAC, whose key would have to be in the report. So the
 * hash is scrypt, as for passwords: a guess takes about 0.1 seconds of a processor and 32 MiB. A report has a dozen of them, so more would
 * make it slow. The salt is random per report, so no table of hashes helps, and two reports do not show whether they have a secret in
 * common. A password that is easily guessed is still found; doctor warns of short ones.
 */
export type SecretHashes = {
  method: string;
  /** Hexadecimal. */
  salt: string;
  /** By setting or file, as in SecretValue: the hash of each value in hexadecimal. */
  hashes: Record<string, string[]>;
  /** The settings and files that could not be read. */
  unread: string[];
};

const COST = { N: 2 ** 15, r: 8, p: 1 };
const MAX_MEMORY_BYTES = 64 * 2 ** 20;
const HASH_BYTES = 16;
/** The number of the way in which secrets are read: a report of before another way would call a secret different that is the same. */
const READING = 3;
const METHOD = `scrypt N=${COST.N} r=${COST.r} p=${COST.p}, reading ${READING}`;

/** Returns the hashes of the secrets, with a new salt. */
export async function hashSecrets({ secrets, unread }: SecretValues): Promise<SecretHashes> {
  const salt = randomBytes(16).toString('hex');
  return { method: METHOD, salt, hashes: await hashAll(secrets, salt), unread };
}

/** The names of secrets, as in SecretValue. Each is in one of the lists. */
export type SecretComparison = {
  /** Those with a value that the other installation has too, in any of its secrets. */
  same: string[];
  /** Those that have no such value. */
  different: string[];
  /** Those that only the other installation has. */
  removed: string[];
  /** Those that no installation has, that cannot be read here or there, or that have no password. */
  notCompared: string[];
};

/** Compares the secrets with those of another report. @returns undefined if its hashes were made in another way */
export async function compareWithHashes(
  { secrets, absent, unread }: SecretValues,
  other: SecretHashes,
): Promise<SecretComparison | undefined> {
  if (other.method !== METHOD) return undefined;
  const known = new Set(Object.values(other.hashes).flat());
  const own = Object.entries(await hashAll(secrets, other.salt));
  const isKnown = ([, hashes]: [string, string[]]) => hashes.some((hash) => known.has(hash));
  const namesOf = (found: [string, string[]][]) => found.map(([name]) => name);
  const compared = own.filter(([name, hashes]) => hashes.length > 0 && !isUnread(name, other.unread));
  const removed = namesOf(Object.entries(other.hashes).filter(([, hashes]) => hashes.length > 0)).filter(
    (name) => !own.some(([each]) => each === name) && !isUnread(name, unread),
  );
  const same = namesOf(own.filter(isKnown));
  const different = namesOf(compared.filter((each) => !isKnown(each)));
  const others = [...namesOf(own), ...absent, ...unread];
  return {
    same,
    different,
    removed,
    notCompared: others.filter(
      (name) => ![...same, ...different].includes(name) && !removed.some((each) => isUnread(each, [name])),
    ),
  };
}

/** Whether a secret is of a setting that could not be read. */
const isUnread = (name: string, unread: string[]): boolean => unread.includes(name.split(' ')[0] ?? name);

/** One after another, because each needs 32 MiB. Equal values are hashed once. */
async function hashAll(secrets: SecretValue[], salt: string): Promise<Record<string, string[]>> {
  const hashes = new Map<string, string>();
  for (const value of secrets.flatMap(({ values }) => values))
    if (!hashes.has(value)) hashes.set(value, await hash(value, salt));
  const named: Record<string, string[]> = {};
  for (const { name, values } of secrets)
    // A header may be given twice.
    named[name] = [...(named[name] ?? []), ...values.flatMap((value) => hashes.get(value) ?? [])];
  return named;
}

type Scrypt = (
  password: string,
  salt: string,
  length: number,
  options: typeof COST & { maxmem: number },
) => Promise<Buffer>;
const derive: Scrypt = promisify(scrypt);

const hash = async (value: string, salt: string): Promise<string> =>
  (await derive(value, salt, HASH_BYTES, { ...COST, maxmem: MAX_MEMORY_BYTES })).toString('hex');
