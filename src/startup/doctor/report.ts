import type { Config } from '../../config/config.js';
import type { Deployment } from '../deployment.js';
import type { SecretHashes } from './secrets/secret-hashes.js';
import type { Finding } from '../shared-checks/finding.js';

export type ReportLine = { check: string } & Finding;

export type Report = { version: string; deployment: Deployment; lines: ReportLine[] };

/** Returns one line per finding. */
export const toLines = ({ lines }: Report): string[] =>
  lines.map((line) => {
    const message = /[.!?]$/.test(line.message) ? line.message : `${line.message}.`;
    const remedy = line.level === 'ok' ? '' : ` ${line.remedy}`;
    return `${line.level.padEnd(8)} ${line.check.padEnd(12)} ${message}${remedy}`.replace(/\s*\n\s*/g, ' ');
  });

/** Returns the report for machines. `--compare` of another deployment reads it. */
export const toJson = ({ version, deployment, lines }: Report, secrets: SecretHashes): string =>
  JSON.stringify(
    {
      version,
      deployment,
      secrets,
      problems: lines.filter(({ level }) => level === 'problem').length,
      warnings: lines.filter(({ level }) => level === 'warning').length,
      findings: lines,
    },
    undefined,
    2,
  );

/** Replaces secrets, which an error of a library could contain. */
export function redact(lines: ReportLine[], config: Config): ReportLine[] {
  const secrets = secretsOf(config);
  const clean = (text: string) => secrets.reduce((result, secret) => result.replaceAll(secret, '***'), text);
  return lines.map((line) => ({
    ...line,
    message: clean(line.message),
    ...(line.level === 'ok' ? {} : { remedy: clean(line.remedy) }),
  }));
}

function secretsOf({ tokens, secrets, cells, mail, tracing, ...config }: Config): string[] {
  const own = [
    config.databaseUrl,
    config.databaseOwnerUrl,
    config.databaseDirectUrl,
    config.databaseReplica?.url,
  ];
  const urls = [...own, ...cells.map(({ url }) => url)].filter((url) => url !== undefined);
  const passwords = urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).password);
  return [
    ...tokens.keys.map(({ secret }) => secret),
    ...secrets.encryptionKeys.map(({ key }) => key.toString('hex')),
    secrets.lookupKey.toString('hex'),
    ...Object.values(mail.ses?.credentials ?? {}),
    ...Object.values(tracing?.headers ?? {}),
    ...passwords,
    ...passwords.map(decodeURIComponent),
    // A short password could be part of any word.
  ].filter((secret) => secret.length >= 8);
}
