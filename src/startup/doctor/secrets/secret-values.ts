import { createPublicKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSecret, SECRET_FILES, SECRET_SETTINGS, withSecretFiles } from '../../../config/secret-files.js';
import { readHeaders } from '../../../config/tracing.js';
import { isPassword, type StoredLogin } from './login-secrets.js';

/** Not a secret itself: it names the file of one. */
const KEY_FILE = 'TLS_KEY_FILE';

type SecretSetting = (typeof SECRET_SETTINGS)[number];
type SecretFile = (typeof SECRET_FILES)[number];

/** A secret of an installation. */
export type SecretValue = {
  /** The setting or file. A header or a cell is in brackets: `OTEL_EXPORTER_OTLP_HEADERS (authorization)`. */
  name: string;
  /** Its passwords or keys. Empty for a URL without a password. */
  values: string[];
};

/** What is in the settings and the folder of secrets. */
export type SecretValues = {
  secrets: SecretValue[];
  /** The settings and files that are not set. */
  absent: string[];
  /** Those that cannot be read, so that nobody knows whether they are set, and files of SECRETS_DIR whose form nobody knows. */
  unread: string[];
};

/** Returns every secret of the settings, of the folder SECRETS_DIR and of TLS_KEY_FILE. Values that are no valid setting count too. */
export function readSecretValues(env: NodeJS.ProcessEnv): SecretValues {
  const { given, unread } = withSecretFiles(env);
  const files = readFiles(given);
  const texts: Record<string, string | undefined> = {
    ...Object.fromEntries(SECRET_SETTINGS.map((name) => [name, given[name]])),
    ...Object.fromEntries(files.map(({ name, value }) => [name, value])),
  };
  const faulty = [
    ...unread,
    ...ownFiles(given['SECRETS_DIR'], Object.keys(texts)),
    ...files.flatMap(({ name, fault }) => (fault ? [name] : [])),
  ];
  const set = Object.entries(texts).flatMap(([name, text]) => (text ? [{ name, text }] : []));
  const read = set.flatMap(({ name, text }) => valuesIn(name, text));
  return {
    secrets: addPasswordsOfLogins(read.filter(({ isFaulty }) => !isFaulty)),
    absent: Object.keys(texts).filter((name) => !texts[name] && !faulty.includes(name)),
    unread: [...faulty, ...read.flatMap(({ name, isFaulty }) => (isFaulty ? [name] : []))],
  };
}

/** Written by the blocks of docs/leaked-secrets.md: keys of before, and the report that is compared. */
const OF_BLOCKS = /^(?:before|(?:former|unused)-lookup-keys|replaced-(?:lookup-key|encryption-keys))$/;

/** Returns the names of files that an operator has added to the folder of secrets. Nothing says which secret they have. */
function ownFiles(folder: string | undefined, known: string[]): string[] {
  if (!folder) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !/^\.|\.new$/.test(entry.name))
      .map(({ name }) => name)
      .filter((name) => !known.includes(name) && !OF_BLOCKS.test(name))
      .sort();
  } catch {
    return [];
  }
}

function readFiles({ SECRETS_DIR: folder, [KEY_FILE]: keyFile }: NodeJS.ProcessEnv) {
  return [
    ...SECRET_FILES.map((name) => ({ name, ...(folder ? readSecret(join(folder, name)) : {}) })),
    { name: KEY_FILE, ...(keyFile ? readKeyFile(keyFile) : {}) },
  ];
}

/** Unlike a file of the folder, this one must exist. */
function readKeyFile(path: string): ReturnType<typeof readSecret> {
  try {
    return { value: readFileSync(path, 'utf8') };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** `found` are the logins of the file of the pooler. `isFaulty` marks a key that cannot be read. */
type Read = SecretValue & { found?: StoredLogin[]; isFaulty?: boolean };
type Split = (text: string, name: string) => Read[];

const whole: Split = (text, name) => [{ name, values: [text.trim()] }];
const url: Split = (text, name) => [{ name, values: passwordsOf(text) }];
/** The digits of a hexadecimal key have no case. */
const hexKey: Split = (text, name) => [{ name, values: [text.trim().toLowerCase()] }];
const hexKeys: Split = (text, name) =>
  keys(text, name).map((read) => ({ ...read, values: read.values.map((key) => key.toLowerCase()) }));
/** `name:secret,name:secret`. The names are no secrets. */
const keys: Split = (text, name) => [{ name, values: items(text).map((item) => partsOf(item, ':').value) }];
const cells: Split = (text, name) =>
  items(text)
    .map((item) => partsOf(item, '='))
    .map((cell) => ({ name: `${name} (${cell.name})`, values: passwordsOf(cell.value) }));
const headers: Split = (text, name) =>
  readHeaders(text, decoded).map(([header, value]) => ({
    // The names of headers have no case.
    name: `${name} (${header.toLowerCase()})`,
    values: [header.toLowerCase() === 'cookie' ? value : credentialIn(value)],
  }));
const SCHEME = /^(?:bearer|basic|token|api-?key)\s+/i;

/** Returns what is secret in a header, without the scheme, quotes and the properties that OpenTelemetry allows after a semicolon. */
function credentialIn(value: string): string {
  const plain = (text: string) =>
    text
      .trim()
      .replace(/^(["'])(.*)\1$/, '$2')
      .trim();
  const withoutProperties = value.replace(/(?:\s*;\s*[\w.-]+(?:=[^;]*)?)+\s*$/, '');
  const credential = plain(plain(withoutProperties).replace(SCHEME, ''));
  return credential || value;
}

/** A new certificate may have the key of the one before. The chain after the certificate has the keys of others. */
const privateKey: Split = (text, name) => {
  const [certificate] = blocksOf(text, 'CERTIFICATE');
  const keysFound = blocksOf(text, '[A-Z ]*PRIVATE KEY');
  const found = (keysFound.length > 0 ? keysFound : [certificate ?? text]).map(publicKeyOf);
  const values = found.filter((value) => value !== undefined);
  return [{ name, values, isFaulty: values.length < found.length }];
};
const blocksOf = (text: string, label: string): string[] =>
  text.match(new RegExp(`-----BEGIN ${label}-----[^]*?-----END ${label}-----`, 'g')) ?? [];

/**
 * A key has several forms, such as PKCS#1 and PKCS#8, but one public key. Returns the text of a key that has a passphrase, and undefined if
 * the key cannot be read: its text says nothing about the key.
 */
function publicKeyOf(pem: string): string | undefined {
  const lines = pem.split(/[\r\n]+/).map((line) => line.trim());
  try {
    const normal = lines.filter((line) => line !== '').join('\n');
    return createPublicKey(normal).export({ type: 'spki', format: 'der' }).toString('base64');
  } catch {
    return /ENCRYPTED/.test(pem) ? pem.replace(/\s/g, '') : undefined;
  }
}

/** `"login" "password"` per line, as pgbouncer reads it. */
const logins: Split = (text, name) => {
  const found = [...text.matchAll(/^\s*"((?:[^"]|"")*)"\s+"((?:[^"]|"")*)"/gm)].map(
    ([, login = '', password = '']) => ({ login: unquoted(login), password: unquoted(password) }),
  );
  return [{ name, values: found.length > 0 ? found.map(({ password }) => password) : [text.trim()], found }];
};
const unquoted = (text: string): string => text.replaceAll('""', '"');

/** Adds to the md5 or SCRAM form of a password in the file of the pooler the password itself, if another setting or file has it. */
function addPasswordsOfLogins(read: Read[]): SecretValue[] {
  const passwords = new Set(read.filter(({ found }) => !found).flatMap(({ values }) => values));
  return read.map(({ name, values, found = [] }) => {
    const known = found.flatMap((login) => [...passwords].filter((each) => isPassword(each, login)));
    return { name, values: [...new Set([...values, ...known])] };
  });
}

/** A setting that has no entry here does not compile. */
const SPLITS: Record<SecretSetting | SecretFile | typeof KEY_FILE, Split> = {
  DATABASE_URL: url,
  DATABASE_DIRECT_URL: url,
  DATABASE_OWNER_URL: url,
  DATABASE_REPLICA_URL: url,
  DATABASE_CELLS: cells,
  DATABASE_OWNER_CELLS: cells,
  TOKEN_KEYS: keys,
  ENCRYPTION_KEYS: hexKeys,
  LOOKUP_KEY: hexKey,
  AWS_ACCESS_KEY_ID: whole,
  AWS_SECRET_ACCESS_KEY: whole,
  AWS_SESSION_TOKEN: whole,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  POSTGRES_PASSWORD: whole,
  OWNER_PASSWORD: whole,
  LOGIN_PASSWORD: whole,
  'userlist.txt': logins,
  'tls.pem': privateKey,
  TLS_KEY_FILE: privateKey,
};

const valuesIn = (name: string, text: string): Read[] =>
  Object.entries(SPLITS)
    .filter(([each]) => each === name)
    .flatMap(([, split]) => split(text, name));

const items = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function partsOf(item: string, separator: string): { name: string; value: string } {
  const at = item.indexOf(separator);
  return { name: item.slice(0, Math.max(at, 0)).trim(), value: item.slice(at + 1).trim() };
}

/** Returns the text itself if it is no URL, so that it is compared all the same. */
function passwordsOf(text: string): string[] {
  if (!URL.canParse(text)) return [text];
  const { password, searchParams } = new URL(text);
  return [decoded(password), ...searchParams.getAll('password')].filter((value) => value !== '');
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
