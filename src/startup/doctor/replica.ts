import {
  awaitReplay,
  POSITION,
  readReplayDelay,
  type WalPosition,
} from '../../platform/db/connections/replay.js';
import { readRow } from '../../platform/db/connections/rows.js';
import { createPool } from '../../platform/db/connections/pool.js';
import { messageOf, ok, problem, warning, type Finding } from '../shared-checks/finding.js';
import type { Connected } from './checks/subject.js';

const REMEDY = 'See docs/failover.md. Until then the primary serves reports.';

/** Lets the replica replay the current position of the primary, as a report does. */
export async function checkReplica({
  config,
  client,
}: Pick<Connected, 'config' | 'client'>): Promise<Finding[]> {
  const { databaseReplica: replica } = config;
  if (!replica) return [ok('There is no replica: the primary serves reports.')];
  const position = await readRow<WalPosition>(client, `select ${POSITION}`).catch(messageOf);
  if (typeof position === 'string')
    return [problem(`The login may not read the position of the primary: ${position}.`, REMEDY)];
  const pool = createPool({ url: replica.url, size: 1, onError: () => undefined, acceptsReadOnly: true });
  try {
    const connection = await pool.connect();
    try {
      await awaitReplay(connection, position, replica.maxLagMs);
    } finally {
      connection.release();
    }
    const delay = await readReplayDelay(pool);
    return [ok(`The replica serves reports. Its last transaction is ${Math.round(delay ?? 0)} s old.`)];
  } catch (error) {
    return [warning(`The replica serves no reports: ${messageOf(error)}`, REMEDY)];
  } finally {
    await pool.end();
  }
}
