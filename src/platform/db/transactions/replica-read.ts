import { POSITION, type WalPosition } from '../connections/replay.js';
import { raw, sql, type Sql } from '../statements.js';
import type { Session } from './admission.js';
import { readAtOnce } from './at-once.js';

const currentPosition: Sql<WalPosition> = sql`select ${raw(POSITION)}`;

/**
 * Runs reading work on the replica if that has replayed everything that was committed before this call, and otherwise on the
 * primary. The primary admits the caller and tells the position in one round trip.
 *
 * @param run may be called a second time, if the replica fails
 */
export async function readFromReplica<Result>(
  session: Session,
  run: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { db } = session;
  const { replica } = db;
  if (!replica?.mayServe()) return run(session);
  const { pool, connectionShares } = replica;
  const served = await replica.serve(async (awaitPosition) => {
    const position = await readPosition(session);
    return run({
      ...session,
      // It never leads to a pooler.
      db: { ...db, pool, connectionShares, isBehindPooler: false },
      awaitReplay: (client) => awaitPosition(client, position),
    });
  });
  return served ? served.result : run(session);
}

async function readPosition(session: Session): Promise<WalPosition> {
  const [rows] = await readAtOnce(session, [currentPosition]);
  // The statement selects exactly these columns.
  const [position] = (rows ?? []) as WalPosition[];
  if (!position) throw new Error('The statement returned no row.');
  return position;
}
