import { describeMisspelt } from '../../shared-checks/misspelt-settings.js';
import { checkPool } from '../../shared-checks/pool.js';
import { DEVELOPMENT_SECRETS } from '../../../config/settings.js';
import { orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import { checkReadableSecrets, checkWritableSecrets } from '../../shared-checks/secret-files.js';
import { findPlaceholders } from './placeholders.js';
import type { Subject } from './subject.js';

export const checkSettings = ({ config, faults, misspelt }: Subject): Finding[] =>
  orOk(
    [
      ...faults.map((fault) =>
        problem(fault, 'Correct the setting. docs/settings.md lists the settings with their formats.'),
      ),
      ...misspelt.map(describeMisspelt).map(({ message, remedy }) => warning(message, remedy)),
      ...findAnyProxy(config),
      ...findOpenMetrics(config),
      ...checkPool(config),
      ...findPlaceholders(config),
    ],
    `The settings for ${config.appEnv} are valid.`,
  );

/** With every address as a proxy, a client states its own address. */
const findAnyProxy = ({ trustProxy }: Subject['config']): Finding[] =>
  trustProxy
    .filter(isNearlyAll)
    .map((range) =>
      warning(
        `TRUST_PROXY contains ${range}, so each client can choose the address that limits and logs show.`,
        'Name only the addresses of your proxies.',
      ),
    );

/** No network of proxies is larger than 10.0.0.0/8 or fc00::/7. Two halves of all addresses are all addresses too. */
const isNearlyAll = (range: string): boolean => Number(range.split('/')[1] ?? 32) < 7;

/** The metrics have no credential. */
const findOpenMetrics = ({ metrics }: Subject['config']): Finding[] =>
  metrics && /^(0\.0\.0\.0|::|\[::\])$/.test(metrics.host)
    ? [
        warning(
          `METRICS_HOST is ${metrics.host}, so METRICS_PORT listens on all addresses of this machine, without a credential.`,
          'Set METRICS_HOST to 127.0.0.1 or to the address that Prometheus uses. In a container, publish the port to no other network.',
        ),
      ]
    : [];

const PUBLIC_SECRETS = Object.values(DEVELOPMENT_SECRETS);
const SHORTEST_PASSWORD = 12;

/** A secret and the setting that contains it. */
type Secret = { setting: string; value: string };

/** Development has public secrets, so they are not examined there. */
export function checkSecrets({ config }: Subject): Finding[] {
  if (config.appEnv === 'development') return orOk([], 'Development may use the public values.');
  const passwords = passwordsOf(config);
  return orOk(
    [...findShared(keysOf(config), passwords), ...findWeakPasswords(passwords)],
    'The secrets are long, random and different.',
  );
}

/** Examines who may write and read the files of secrets. Returns nothing if there are none. */
export async function checkSecretFiles({ config }: Subject): Promise<Finding[]> {
  if (config.appEnv === 'development' || (config.secretsDir ?? config.tls) === undefined) return [];
  return orOk(
    [await checkWritableSecrets(config), await checkReadableSecrets(config)],
    'Only the service and administrators may write and read the files of secrets.',
  );
}

/** Without those that are missing or public: checkSettings reports them, and guessable ones. */
const keysOf = ({ tokens, secrets }: Subject['config']): Secret[] =>
  [
    ...tokens.keys.map(({ secret }) => ({ setting: 'TOKEN_KEYS', value: secret })),
    ...secrets.encryptionKeys.map(({ key }) => ({ setting: 'ENCRYPTION_KEYS', value: key.toString('hex') })),
    { setting: 'LOOKUP_KEY', value: secrets.lookupKey.toString('hex') },
  ].filter(({ value }) => !PUBLIC_SECRETS.some((text) => text.endsWith(value)));

/** The password of one login may be in two URLs. */
function passwordsOf({ databaseUrl, databaseOwnerUrl }: Subject['config']): Secret[] {
  const urls = { DATABASE_URL: databaseUrl, DATABASE_OWNER_URL: databaseOwnerUrl };
  return Object.entries(urls).flatMap(([setting, url]) =>
    url && URL.canParse(url) ? [{ setting, value: decodeURIComponent(new URL(url).password) }] : [],
  );
}

/** Finds passwords that are also a key or another password. Two keys with one value are a fault of the settings. */
function findShared(keys: Secret[], passwords: Secret[]): Finding[] {
  const known = new Map(keys.map(({ setting, value }) => [value.toLowerCase(), setting]));
  return passwords.flatMap(({ setting, value }) => {
    const other = known.get(value.toLowerCase());
    known.set(value.toLowerCase(), setting);
    if (!value || !other || other === setting) return [];
    return [problem(`${other} and ${setting} contain the same secret.`, replaceSecret(setting))];
  });
}

const findWeakPasswords = (passwords: Secret[]): Finding[] =>
  passwords
    .filter(({ value }) => value.length > 0 && value.length < SHORTEST_PASSWORD)
    .map(({ setting }) =>
      warning(
        `The password in ${setting} has fewer than ${SHORTEST_PASSWORD} characters.`,
        'Choose a random password with alter role, and change the setting.',
      ),
    );

const replaceSecret = (setting: string) =>
  `Replace it with a value of openssl rand -hex 32, as "Changing secrets" in docs/operations.md describes for ${setting}.`;
