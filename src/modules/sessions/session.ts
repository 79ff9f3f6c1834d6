import { networkOf } from '../../platform/values/network-address.js';
import { TOKEN_LIFETIME_S } from '../../platform/access/tokens.js';
import type { Db, Tx } from '../../platform/db/transaction.js';
import { newId } from '../../platform/values/ids.js';
import { queueAccountMail } from '../mail/public.js';
import { insertSession, noteNetwork, otherNetworks, type StartedBy } from './queries.js';

/** Where a request comes from, as far as it tells. */
export type Client = { address: string; userAgent: string | undefined };

/** Whose session begins, by the database's clock. */
export type SessionOwner = { id: string; nowS: number };

/** Stores the session of a token that is about to be issued, and returns its id, which the token carries. */
export async function beginSession(
  tx: Tx,
  user: SessionOwner,
  startedBy: StartedBy,
  { address, userAgent }: Client,
): Promise<string> {
  const id = newId();
  const expiresAtS = user.nowS + TOKEN_LIFETIME_S;
  await tx.execute(
    insertSession(tx.caller, { id, userId: user.id, startedBy, address, userAgent, expiresAtS }),
  );
  return id;
}

/**
 * Remembers the network of a login, and mails a user who has only logged in from others before. The first login of all
 * is no news. Of simultaneous logins from one new network, one is mailed.
 */
export async function noteLoginNetwork(db: Db, tx: Tx, userId: string, client: Client): Promise<void> {
  const network = networkOf(client.address);
  const [others] = await tx.query<{ exist: boolean }>(otherNetworks(db, tx.caller, userId, network));
  const [noted] = await tx.query<{ isNew: boolean }>(noteNetwork(tx.caller, userId, network));
  if (others?.exist && noted?.isNew) await queueAccountMail(db, tx, { userId, kind: 'new_network', client });
}
