import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../../platform/access/secrets.js';

const STATION_BYTES = 32;
/** 128 bits, in hexadecimal digits. */
const SIGNATURE_LENGTH = 32;

type Hashes = Pick<Secrets, 'lookupHash'>;

/** Returns the text that names a station in its cookie: random, and signed. */
export const nameStation = (secrets: Hashes): string =>
  signStation(randomBytes(STATION_BYTES).toString('base64url'), secrets);

export const signStation = (random: string, secrets: Hashes): string =>
  `${random}.${secrets.lookupHash(random, 'station_name').slice(0, SIGNATURE_LENGTH)}`;

/**
 * Returns the text of a cookie if this deployment has made it. What anybody can make up is recognized without the database, because it comes
 * with requests that have no credential.
 */
export function readStationName(sent: string | undefined, secrets: Hashes): string | undefined {
  const [random = ''] = sent?.split('.', 1) ?? [];
  const [given, expected] = [Buffer.from(sent ?? ''), Buffer.from(signStation(random, secrets))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? sent : undefined;
}
