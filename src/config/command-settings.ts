import { ConfigError, readGiven, toSecrets, type Config, type SecretConfig } from './config.js';
import { missingForCommand, repeatedIds } from './settings-checks.js';
import { list, parseSettings, type Settings } from './settings.js';

/** Who a command runs for. The guard of the database compares it with the deployment that uses the database. */
export type Identity = {
  appEnv: Config['appEnv'];
  /** DEPLOYMENT, if it is set. */
  name: string | undefined;
  /** The keys that are set. */
  keys: Partial<SecretConfig & { tokenKeys: Config['tokens']['keys'] }>;
};

/** The settings of a command that serves nothing and encrypts. */
export type KeyedSettings = { identity: Identity; secrets: SecretConfig; passwordHashCost: number };

/** What commands read. Settings of servers, such as TRUST_PROXY and DATABASE_POOLER, exist only where the servers run. */
const READ = ['APP_ENV', 'DEPLOYMENT', 'ENCRYPTION_KEYS', 'LOOKUP_KEY', 'PASSWORD_HASH_COST'] as const;

/**
 * Returns for whom a command runs.
 *
 * @throws ConfigError when APP_ENV is missing, or one of these settings is faulty
 */
export function readIdentity(env: NodeJS.ProcessEnv = process.env): Identity {
  return identityOf(readSettings(env));
}

/**
 * Returns the settings of a command that encrypts or decrypts, and serves nothing.
 *
 * @throws ConfigError with one line per fault
 */
export function readKeyedSettings(env: NodeJS.ProcessEnv = process.env): KeyedSettings {
  const settings = readSettings(env);
  const faults = missingForCommand(settings);
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    identity: identityOf(settings),
    secrets: toSecrets(settings),
    passwordHashCost: settings.PASSWORD_HASH_COST,
  };
}

/** Returns for whom a server or worker runs. Its keys identify it, so that it may have a new name. */
export const identityOfProcess = ({ appEnv, secrets, tokens }: Config): Identity => ({
  appEnv,
  name: undefined,
  keys: { ...secrets, tokenKeys: tokens.keys },
});

function readSettings(env: NodeJS.ProcessEnv): Settings {
  const given = readGiven(env);
  const { settings, faults } = parseSettings(Object.fromEntries(READ.map((name) => [name, given[name]])));
  const all = [...faults, ...repeatedIds('ENCRYPTION_KEYS', settings.ENCRYPTION_KEYS)];
  if (all.length > 0) throw new ConfigError(all);
  return settings;
}

function identityOf(settings: Settings): Identity {
  const { encryptionKeys, lookupKey } = toSecrets(settings);
  return {
    appEnv: settings.APP_ENV,
    name: settings.DEPLOYMENT,
    keys: {
      ...(list(settings.ENCRYPTION_KEYS).length > 0 ? { encryptionKeys } : {}),
      ...(settings.LOOKUP_KEY ? { lookupKey } : {}),
    },
  };
}

/** The environment of the command, for those that read settings even if others are wrong. */
export const environment = (): NodeJS.ProcessEnv => process.env;
