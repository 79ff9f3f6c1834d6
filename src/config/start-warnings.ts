import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from './config.js';

/** Returns a line for each setting with which a process starts, but does less than a deployment needs. */
export function startWarnings(config: Config, now: Date): string[] {
  const { appEnv, mail, rateLimitPerMinute, tls } = config;
  const lines = tls ? describeExpiry(tls.certFile, now) : [];
  if (appEnv === 'development') return lines;
  if (!mail.ses)
    lines.push(
      `SES_REGION is not set, so mails are only written to files in ${mail.outbox}, and nobody gets them. Set SES_REGION and MAIL_FROM. ${ENV_FILE}`,
    );
  if (rateLimitPerMinute === undefined)
    lines.push(
      `RATE_LIMIT_PER_MINUTE is not set, so the requests of a key or token are not limited. Set it. ${ENV_FILE}`,
    );
  return lines;
}

const ENV_FILE = 'If the env file had it, compare the file with that of deploy/settings.';

/** The settings were checked, so the file has a certificate. */
function describeExpiry(certFile: string, now: Date): string[] {
  const { validTo } = new X509Certificate(readFileSync(certFile));
  if (Date.parse(validTo) > now.getTime()) return [];
  return [
    `The certificate in TLS_CERT_FILE expired on ${validTo}. Renew it as "Certificates" in docs/operations.md describes.`,
  ];
}
