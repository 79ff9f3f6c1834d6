import { BlockList, isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { isPooled } from '../../platform/db/connections/pooler.js';
import { withClient } from '../../platform/db/connections/roles.js';
import { readRow } from '../../platform/db/connections/rows.js';
import { ok, orOk, warning, type Finding } from '../shared-checks/finding.js';
import type { Connected } from './checks/subject.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const SECTION = 'See "Encrypted connections" in docs/deploy.md.';

/**
 * Finds connections to other hosts that are not encrypted: those of the settings, and those of a pooler to PostgreSQL. Private networks
 * count as other hosts, because nothing distinguishes the bridge of a container from a network with other machines. `sslmode=disable` in
 * the URL says that the operator knows.
 */
export async function checkConnectionEncryption({ client, config, url }: Connected): Promise<Finding[]> {
  if (config.appEnv === 'development') return [ok('A database of a developer needs no encryption.')];
  const urls: Record<string, string | undefined> = {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: config.databaseOwnerUrl,
    DATABASE_DIRECT_URL: config.databaseDirectUrl,
    DATABASE_REPLICA_URL: config.databaseReplica?.url,
    ...Object.fromEntries(config.cells.map((cell) => [`DATABASE_CELLS (${cell.name})`, cell.url])),
  };
  const found: (Finding | undefined)[] = [];
  for (const [setting, each] of Object.entries(urls))
    if (each) found.push(await findPlaintext(setting, each));
  return orOk(
    [...found, await findPlaintextOfPooler(client, config.databaseDirectUrl ?? url)],
    'The connections to the database are encrypted, stay on this host, or have sslmode=disable.',
  );
}

async function findPlaintext(setting: string, url: string): Promise<Finding | undefined> {
  if (isDeclined(url)) return undefined;
  // One that cannot be reached is another finding.
  const address = await withClient(url, (client) => Promise.resolve(plaintextPeer(client))).catch(
    () => undefined,
  );
  if (address === undefined) return undefined;
  return warning(
    `The connection of ${setting} to ${address} is not encrypted, so the network between can read and change all data.`,
    `Add ?sslmode=verify-full&sslrootcert=<file of the authority> to the URL, after the server has a certificate. If nobody else is in that network, as with containers of one machine, add ?sslmode=disable. ${SECTION}`,
  );
}

/** Returns the other host of a connection that is not encrypted; undefined for an encrypted one, a Unix socket or this host. */
function plaintextPeer(client: pg.Client): string | undefined {
  // node-postgres declares a Duplex, and makes one of these.
  const stream = client.connection.stream as Socket;
  if (stream instanceof TLSSocket || stream.remoteAddress === undefined) return undefined;
  return isLoopback(stream.remoteAddress) ? undefined : stream.remoteAddress;
}

const isLoopback = (address: string): boolean =>
  LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The operator has said that the connection needs no encryption. */
const isDeclined = (url: string): boolean => new URL(url).searchParams.get('sslmode') === 'disable';

type Session = { is_encrypted: boolean; address: string | null };

/** What PostgreSQL sees of a connection through a pooler is the connection of the pooler. */
async function findPlaintextOfPooler(client: pg.Client, directUrl: string): Promise<Finding | undefined> {
  if (isDeclined(directUrl) || !(await isPooled(client))) return undefined;
  const session = await readRow<Session>(
    client,
    `select ssl as is_encrypted, host(inet_client_addr()) as address from pg_stat_ssl where pid = pg_backend_pid()`,
  );
  const { is_encrypted: isEncrypted, address } = session;
  // A Unix socket has no address.
  if (isEncrypted || address === null || isLoopback(address)) return undefined;
  return warning(
    `The connection of the pooler at ${address} to PostgreSQL is not encrypted, so the network between can read and change all data.`,
    `Set server_tls_sslmode = verify-full and server_tls_ca_file in pgbouncer.ini, and restart pgbouncer. ${SECTION}`,
  );
}
