import { networkOf } from '../../platform/values/network-address.js';
import { TOKEN_LIFETIME_S } from '../../platform/access/tokens.js';
import { newId } from '../../platform/values/ids.js';
import type { SystemTx, Tx } from '../../platform/db/scope.js';
import { queueAccountMail } from '../mail/public.js';
import { insertSession, upsertNetwork, otherNetworks, type StartedBy } from './queries.js';

/** The network address and user agent of a request. */
export type Client = { address: string; userAgent: string | undefined };

/** The user of a new session, and the current time of the database in seconds. */
export type SessionOwner = { id: string; nowS: number };

/**
 * Stores a session for a token that is about to be issued. Returns its id, which becomes part of the token.
 */
export async function beginSession(
  tx: Tx,
  user: SessionOwner,
  startedBy: StartedBy,
  { address, userAgent }: Client,
): Promise<string> {
  const id = newId();
  const expiresAtS = user.nowS + TOKEN_LIFETIME_S;
  await tx.count(insertSession(tx, { id, userId: user.id, startedBy, address, userAgent, expiresAtS }));
  return id;
}

/**
 * Records the network of a login. Queues a mail if the user has logged in before, but never from this
 * network. Of simultaneous logins from one new network, only one queues a mail.
 */
export async function recordLoginNetwork(tx: SystemTx, userId: string, client: Client): Promise<void> {
  const network = networkOf(client.address);
  const [others] = await tx.query(otherNetworks(tx, userId, network));
  const [recorded] = await tx.query(upsertNetwork(tx, userId, network));
  if (others?.exist && recorded?.isNew) await queueAccountMail(tx, { userId, kind: 'new_network', client });
}
