import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:tls';
import { tenantRows } from '../../platform/db/filters.js';
import { sql } from '../../platform/db/statements.js';
import { messageOf, ok, orOk, problem, type Finding } from '../shared-checks/finding.js';
import type { Connected, Subject } from './checks/subject.js';
import { chainOf, checkValidity } from '../shared-checks/tls.js';
import { forEachTenant } from './scope/tenants.js';

const TIMEOUT_MS = 5_000;
const RENEW = 'Renew it for every host name of a tenant, as "Certificates" in docs/operations.md describes.';

/**
 * Compares the certificates with the host names of all tenants: that of TLS_CERT_FILE, and those that the proxy presents for
 * each name. Clients refuse a certificate that does not have the name among its alternative names.
 */
export async function checkHostNames(subject: Connected): Promise<Finding[]> {
  const hosts = (await listHosts(subject)).filter((host) => host !== '*');
  if (hosts.length === 0) return [ok('No tenant has a host name to compare with a certificate.')];
  const own = await readOwnCertificate(subject);
  const findings = own ? hosts.flatMap((host) => compare('The certificate in TLS_CERT_FILE', own, host)) : [];
  const ofProxy: Finding[] = [];
  if (subject.proxy)
    for (const host of hosts) ofProxy.push(...(await examineProxy(subject.proxy, host, subject.now())));
  const examined = [own ? 'TLS_CERT_FILE' : [], subject.proxy ? 'the proxy' : []].flat();
  return orOk(
    [...findings, ...ofProxy],
    examined.length > 0
      ? `The certificates of ${examined.join(' and ')} have the host names of the tenants: ${hosts.length}.`
      : `Host names of the tenants: ${hosts.length}. Only --proxy HOST:PORT compares them with the certificates of a proxy.`,
  );
}

async function listHosts(subject: Connected): Promise<string[]> {
  const lists = await forEachTenant(subject, async (ctx) => {
    const [rows] = await ctx.read([
      sql<{ host: string }>`select h.host from tenant_hosts h where ${tenantRows(ctx, 'h')}
        and h.host not like 'sandbox/%' order by h.host`,
    ]);
    return rows.map(({ host }) => host);
  });
  return lists.flat();
}

/** Returns undefined without one, and for files that the check "tls" reports. */
async function readOwnCertificate({ config }: Subject): Promise<X509Certificate | undefined> {
  if (!config.tls) return undefined;
  try {
    const [certificate] = chainOf(await readFile(config.tls.certFile, 'utf8'));
    const key = createPrivateKey(await readFile(config.tls.keyFile, 'utf8'));
    return certificate?.checkPrivateKey(key) ? certificate : undefined;
  } catch {
    return undefined;
  }
}

/** Not by the common name, which clients ignore. */
const compare = (name: string, certificate: X509Certificate, host: string): Finding[] =>
  certificate.checkHost(host, { subject: 'never' }) === undefined
    ? [problem(`${name} does not have the host name ${host}.`, RENEW)]
    : [];

type Presented = { certificate: X509Certificate; distrust: string | undefined };

type Proxy = NonNullable<Subject['proxy']>;

async function examineProxy(proxy: Proxy, host: string, now: Date): Promise<Finding[]> {
  const address = `${proxy.host}:${proxy.port}`;
  try {
    const { certificate, distrust } = await present(proxy, host);
    const name = `The certificate that ${address} presents for ${host}`;
    const named = [...compare(name, certificate, host), ...checkValidity(name, certificate, now)];
    // A certificate that has expired is not trusted either.
    if (named.length > 0 || distrust === undefined) return named;
    const remedy =
      'The proxy must present the server\'s certificate and each issuer except the root. See "Certificates" in docs/operations.md.';
    return [problem(`${name} is not trusted: ${distrust}.`, remedy)];
  } catch (error) {
    const message = `The proxy at ${address} presents no certificate for ${host}: ${messageOf(error)}.`;
    return [problem(message, 'Correct --proxy, or start the proxy and allow connections to it.')];
  }
}

/** Opens a TLS connection with the name of a host, as its clients do, and closes it. */
async function present({ host, port, ca }: Proxy, name: string): Promise<Presented> {
  const trusted = ca === undefined ? {} : { ca };
  const socket = connect({ host, port, servername: name, rejectUnauthorized: false, ...trusted });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no response')));
  try {
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate();
    if (!certificate) throw new Error('no certificate');
    // The type says Error, but Node sets the code as text. The name is compared above.
    const distrust = socket.authorized ? '' : String(socket.authorizationError);
    return { certificate, distrust: distrust.includes('ALTNAME') ? undefined : distrust || undefined };
  } finally {
    socket.destroy();
  }
}
