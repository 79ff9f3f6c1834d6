import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { isBadPort } from './blocked-ports.js';
import { IS_RELEASE } from './commands.js';
import { cellFaults, toCells } from './cells.js';
import {
  DATABASE_URL_EXPECTED,
  DEVELOPMENT_SECRETS,
  isDatabaseUrl,
  list,
  PASSWORD_HASH_COST,
  type Settings,
} from './settings.js';

/** The settings that contain keys. */
type KeySetting = keyof typeof DEVELOPMENT_SECRETS;

const KEY_SETTINGS: KeySetting[] = ['TOKEN_KEYS', 'ENCRYPTION_KEYS', 'LOOKUP_KEY'];

/** Returns a fault for each setting that is required in staging and production and missing. */
export function missingForDeployment(settings: Settings): string[] {
  if (!isDeployed(settings)) return [];
  const faults = missingKeys(settings, KEY_SETTINGS);
  if (!settings.DATABASE_URL && !settings.EMBEDDED_POSTGRES) {
    faults.push(
      `DATABASE_URL is required in ${settings.APP_ENV}${IS_RELEASE ? '' : ' (or EMBEDDED_POSTGRES=true for a single machine)'}`,
    );
  }
  if (!settings.TLS_CERT_FILE && !settings.TRUST_PROXY) {
    faults.push(
      `TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY, are required in ${settings.APP_ENV}: only HTTPS is served`,
    );
  }
  return [...faults, ...costFaults(settings), ...weakKeys(settings, KEY_SETTINGS), ...sharedKeys(settings)];
}

/** The same for a command that serves nothing and encrypts. */
export function missingForCommand(settings: Settings): string[] {
  if (!isDeployed(settings)) return [];
  const names: KeySetting[] = ['ENCRYPTION_KEYS', 'LOOKUP_KEY'];
  return [...missingKeys(settings, names), ...costFaults(settings), ...weakKeys(settings, names)];
}

/** An invalid APP_ENV is already reported. */
const isDeployed = ({ APP_ENV }: Settings): boolean => APP_ENV === 'staging' || APP_ENV === 'production';

const missingKeys = (settings: Settings, names: KeySetting[]): string[] =>
  names
    .filter((name) => !settings[name])
    .map((name) => `${name} is required in ${settings.APP_ENV}; docs/settings.md says how to make one`);

const costFaults = ({ APP_ENV, PASSWORD_HASH_COST: cost }: Settings): string[] =>
  cost < PASSWORD_HASH_COST
    ? [`PASSWORD_HASH_COST must be at least ${PASSWORD_HASH_COST} in ${APP_ENV}`]
    : [];

function weakKeys(settings: Settings, names: KeySetting[]): string[] {
  return names.flatMap((name) => {
    if (holdsPublicSecret(settings[name] ?? '', DEVELOPMENT_SECRETS[name]))
      return [`${name} holds the public development value; generate a new value, as docs/settings.md shows`];
    if (list(settings[name]).some((item) => isGuessable(secretOf(item))))
      return [
        `${name} holds a secret of very few different characters; replace it by a value of openssl rand -hex 32, as "Changing secrets" in docs/operations.md describes`,
      ];
    return [];
  });
}

/**
 * Returns a fault for each two settings that contain the same secret: who learns one would know the other. Commands that replace a key
 * do not ask for it, because they are the remedy. It suggests the setting whose old value nothing needs afterwards.
 */
function sharedKeys(settings: Settings): string[] {
  const pairs = [
    ['TOKEN_KEYS', 'ENCRYPTION_KEYS'],
    ['TOKEN_KEYS', 'LOOKUP_KEY'],
    ['LOOKUP_KEY', 'ENCRYPTION_KEYS'],
  ] as const;
  return pairs
    .filter(([one, other]) => {
      const secrets = new Set(ownSecrets(settings, other));
      return ownSecrets(settings, one).some((secret) => secrets.has(secret));
    })
    .map(
      ([one, other]) =>
        `${one} and ${other} contain the same secret; give ${one} a value of openssl rand -hex 32 of its own, as "Changing secrets" in docs/operations.md describes`,
    );
}

/** Returns the secrets of a setting, without the public one of development, which is another fault. */
const ownSecrets = (settings: Settings, name: KeySetting): string[] =>
  list(settings[name])
    .map(secretOf)
    .filter((secret) => secret !== '' && !isPublicSecret(secret));

const isPublicSecret = (secret: string): boolean =>
  Object.values(DEVELOPMENT_SECRETS).some((value) => secretOf(value) === secret);

/** A random key of 32 hex digits or more has 8 different characters, except one in ten million. */
const FEWEST_CHARACTERS = 8;

/** Whether a secret has so few different characters that it can be guessed, for example 64 zeros. */
const isGuessable = (secret: string): boolean => new Set(secret.toLowerCase()).size < FEWEST_CHARACTERS;

/** Returns the secret of `id:secret`, or of an item without an id. */
const secretOf = (item: string) => item.slice(item.indexOf(':') + 1).toLowerCase();

/** Checks every key of a list, under any id, because each of them verifies or decrypts. */
function holdsPublicSecret(value: string, publicValue: string): boolean {
  return list(value).some((item) => secretOf(item) === secretOf(publicValue));
}

/** Returns a fault for each setting that is well-formed but unusable, alone or together with others. */
export function contradictions(settings: Settings): string[] {
  const faults = [
    ...unusableUrls(settings),
    ...unusableCertificate(settings),
    ...repeatedIds('TOKEN_KEYS', settings.TOKEN_KEYS),
    ...repeatedIds('ENCRYPTION_KEYS', settings.ENCRYPTION_KEYS),
  ];
  if (!list(settings.TRUST_PROXY).every(isAddressBlock))
    faults.push('TRUST_PROXY must be addresses or CIDR blocks joined by commas');
  if (Boolean(settings.TLS_CERT_FILE) !== Boolean(settings.TLS_KEY_FILE)) {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together');
  }
  const { API_PROCESSES: processes, POOL_SIZE: connections } = settings;
  if (processes !== undefined && connections !== undefined && processes > connections) {
    faults.push(
      `POOL_SIZE must be at least API_PROCESSES, which is ${processes}: each process needs a connection`,
    );
  }
  if (settings.DATABASE_OWNER_URL && !settings.DATABASE_URL) {
    faults.push('DATABASE_OWNER_URL needs DATABASE_URL beside it: we serve from that one');
  }
  if (settings.DATABASE_POOLER && !settings.DATABASE_URL) {
    faults.push('DATABASE_POOLER needs DATABASE_URL beside it: the connection to the pooler');
  }
  if (settings.DATABASE_DIRECT_URL && !settings.DATABASE_POOLER) {
    faults.push(
      'DATABASE_DIRECT_URL needs DATABASE_POOLER beside it; without a pooler DATABASE_URL is direct',
    );
  }
  if (settings.DATABASE_CELLS && !settings.DATABASE_URL) {
    faults.push('DATABASE_CELLS needs DATABASE_URL beside it: the cell whose jobs this deployment runs');
  }
  faults.push(...cellFaults(settings.DATABASE_CELL, toCells(settings.DATABASE_CELLS)));
  if (
    settings.DATABASE_REPLICA_URL &&
    userOf(settings.DATABASE_REPLICA_URL) !== userOf(settings.DATABASE_URL)
  ) {
    // A standby has the primary's roles, so the start has checked the rights of this one.
    faults.push('DATABASE_REPLICA_URL must have the same user as DATABASE_URL');
  }
  if (settings.SES_REGION && !settings.MAIL_FROM) {
    faults.push('MAIL_FROM must be set with SES_REGION: an address that SES may send from');
  }
  if (
    settings.SES_REGION &&
    Boolean(settings.AWS_ACCESS_KEY_ID) !== Boolean(settings.AWS_SECRET_ACCESS_KEY)
  ) {
    faults.push('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together');
  }
  if (settings.SES_REGION && settings.AWS_SESSION_TOKEN && !settings.AWS_ACCESS_KEY_ID) {
    faults.push('AWS_SESSION_TOKEN needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY beside it');
  }
  const ofStaging = (['STAGING_MAIL_TO', 'STAGING_MAIL_DOMAINS'] as const).filter((name) => settings[name]);
  if (settings.APP_ENV !== 'staging' && ofStaging.length > 0) {
    faults.push(`${ofStaging.join(' and ')} must only be set with APP_ENV=staging`);
  }
  if (settings.APP_ENV !== 'development' && settings.PASSWORD_RESET_URL?.startsWith('http:')) {
    faults.push('PASSWORD_RESET_URL must begin with https:// outside of development');
  }
  if (settings.APP_ENV !== 'development' && settings.PUBLIC_URL?.startsWith('http:')) {
    faults.push('PUBLIC_URL must begin with https:// outside of development');
  }
  if (list(settings.OUTBOUND_DNS_SERVERS).some((server) => !isServerAddress(server))) {
    faults.push('OUTBOUND_DNS_SERVERS must be addresses joined by commas, each with or without a port');
  }
  const unusable = list(settings.OUTBOUND_PORTS).filter(
    (port) => Number(port) > 65_535 || isBadPort(Number(port)),
  );
  if (unusable.length > 0) {
    faults.push(
      `OUTBOUND_PORTS must not name ${unusable.join(', ')}: no such port, or one that is never called`,
    );
  }
  if (settings.APP_ENV === 'production' && settings.OUTBOUND_ALLOW_LOOPBACK) {
    faults.push('OUTBOUND_ALLOW_LOOPBACK is refused in production');
  }
  return faults;
}

/** With two keys of one version, the first would encrypt and the second decrypt, so that nothing could be read again. */
export function repeatedIds(name: string, value: string | undefined): string[] {
  // A malformed value is already reported, and could be a secret.
  const ids = list(value).flatMap((item) => /^([\w-]{1,32}):/.exec(item)?.[1] ?? []);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [...new Set(repeated)].map(
    (id) => `${name} has two keys with the name ${id}; give the new key another name`,
  );
}

const userOf = (url = ''): string | undefined => (URL.canParse(url) ? new URL(url).username : undefined);

function unusableUrls(settings: Settings): string[] {
  return (['DATABASE_URL', 'DATABASE_OWNER_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'] as const)
    .filter((name) => {
      const value = settings[name];
      // A value that is not a postgres URL at all is already reported.
      return value !== undefined && /^postgres(ql)?:/.test(value) && !isDatabaseUrl(value);
    })
    .map((name) => `${name} ${DATABASE_URL_EXPECTED}; encode special characters of the password (%23 for #)`);
}

function unusableCertificate({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: Settings): string[] {
  if (!certFile || !keyFile) return [];
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    return [];
  } catch (error) {
    return [
      `TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${error instanceof Error ? error.message : 'unknown'}`,
    ];
  }
}

function isAddressBlock(item: string): boolean {
  // isIP first, because the library also accepts 127.1 and 0x7f.0.0.1.
  const isAddress = isIP(item.split('/')[0] ?? '') > 0;
  return isAddress && (isIP(item) > 0 || ipaddr.isValidCIDR(item));
}

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
function isServerAddress(server: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+)(?::\d{1,5})?)$/.exec(server) ?? [];
  return isIP(bracketed ?? plain ?? server) > 0;
}
