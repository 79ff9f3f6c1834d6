import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf, ok, orOk, problem, warning, type Finding } from './finding.js';
import type { Config } from '../../config/config.js';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 30;

type Examined = { config: Config; now: () => Date };

/** Examines the certificate and the key, if the service terminates TLS. */
export async function checkTls({ config, now }: Examined): Promise<Finding[]> {
  if (!config.tls)
    return [
      ok(
        'A proxy terminates TLS, or HTTP is served in development. --proxy HOST:PORT examines its certificates.',
      ),
    ];
  const cert = await readPem('TLS_CERT_FILE', config.tls.certFile);
  const key = await readPem('TLS_KEY_FILE', config.tls.keyFile);
  if (typeof cert !== 'string') return [cert];
  if (typeof key !== 'string') return [key];
  try {
    const chain = chainOf(cert);
    return orOk(
      [...checkKey(chain, key), ...checkOrder(chain), ...checkDates(chain, now())],
      `The certificate is valid until ${chain[0]?.validTo}.`,
    );
  } catch (error) {
    return [problem(`TLS_CERT_FILE or TLS_KEY_FILE is not PEM: ${messageOf(error)}`, 'Provide PEM files.')];
  }
}

async function readPem(setting: string, file: string): Promise<string | Finding> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    return problem(
      `${setting} cannot be read: ${messageOf(error)}`,
      'Correct the path, or allow the account of the service to read the file.',
    );
  }
}

export const chainOf = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map(
    (block) => new X509Certificate(block),
  );

function checkKey(chain: X509Certificate[], pem: string): Finding[] {
  const key = createPrivateKey(pem);
  const position = chain.findIndex((certificate) => certificate.checkPrivateKey(key));
  if (position === 0) return [];
  return position > 0
    ? [
        problem(
          `The certificate of TLS_KEY_FILE is number ${position + 1} in TLS_CERT_FILE.`,
          "Put the server's certificate first, then each issuer.",
        ),
      ]
    : [
        problem(
          'TLS_KEY_FILE does not belong to the certificate in TLS_CERT_FILE.',
          'Set both to files of the same certificate.',
        ),
      ];
}

const checkOrder = (chain: X509Certificate[]): Finding[] =>
  chain.slice(1).flatMap((issuer, index) => {
    const certificate = chain[index];
    if (certificate?.checkIssued(issuer) && certificate.verify(issuer.publicKey)) return [];
    return [
      problem(
        `Certificate ${index + 2} in TLS_CERT_FILE did not issue certificate ${index + 1}.`,
        "Put the server's certificate first, then each issuer, and nothing else.",
      ),
    ];
  });

const checkDates = (chain: X509Certificate[], now: Date): Finding[] =>
  chain.flatMap((certificate, index) =>
    checkValidity(`Certificate ${index + 1} in TLS_CERT_FILE`, certificate, now),
  );

/** Finds a certificate that is not valid, or not for long. */
export function checkValidity(
  name: string,
  { validFrom, validTo }: Pick<X509Certificate, 'validFrom' | 'validTo'>,
  now: Date,
): Finding[] {
  const days = Math.floor((Date.parse(validTo) - now.getTime()) / DAY_MS);
  const renew = 'Renew it as "Certificates" in docs/operations.md describes.';
  if (Date.parse(validFrom) > now.getTime())
    return [problem(`${name} is not valid before ${validFrom}.`, 'Check the clock of this host.')];
  if (days < 0) return [problem(`${name} expired on ${validTo}.`, renew)];
  return days < RENEW_DAYS ? [warning(`${name} expires in ${days} days.`, renew)] : [];
}
