import type { Config } from '../../config/config.js';
import { DEVELOPMENT_SECRETS } from '../../config/settings.js';
import { orOk, problem, warning, type Finding } from './finding.js';

const PUBLIC_SECRETS = Object.values(DEVELOPMENT_SECRETS);
const SHORTEST_PASSWORD = 12;

/** A secret and the setting that contains it. */
type Secret = { setting: string; value: string };

/** Examines the keys, and the passwords of the databases. Development has public secrets, so they are not examined there. */
export function checkSecrets(config: Config): Finding[] {
  if (config.appEnv === 'development') return orOk([], 'Development may use the public values.');
  const passwords = passwordsOf(config);
  return orOk(
    [...findShared(keysOf(config), passwords), ...findWeakPasswords(passwords)],
    'The secrets are long, random and different.',
  );
}

/** Without those that are missing or public: they are faults of the settings, as guessable ones are. */
const keysOf = ({ tokens, secrets }: Config): Secret[] =>
  [
    ...tokens.keys.map(({ secret }) => ({ setting: 'TOKEN_KEYS', value: secret })),
    ...secrets.encryptionKeys.map(({ key }) => ({ setting: 'ENCRYPTION_KEYS', value: key.toString('hex') })),
    { setting: 'LOOKUP_KEY', value: secrets.lookupKey.toString('hex') },
  ].filter(({ value }) => !PUBLIC_SECRETS.some((text) => text.endsWith(value)));

/** The password of one login may be in two URLs. */
function passwordsOf({ databaseUrl, databaseOwnerUrl }: Config): Secret[] {
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
