import { setTimeout as sleep } from 'node:timers/promises';
import { meaningOfError, sqlStateOf } from '../platform/db/violations.js';
import { readVersion } from '../platform/db/connections/roles.js';

const PAUSE_MS = 500;

/**
 * Waits until a server that starts accepts connections. A wrong password, or a database that does not exist, ends the wait.
 *
 * @throws the last error if the server is not there in time
 */
export async function awaitServer(url: string, limitMs: number): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    try {
      await readVersion(url);
      return;
    } catch (error) {
      if (!mayStart(error) || performance.now() > deadlineMs) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** A refused login (28) and a missing database (3D) may be temporary for a request, but not while a server starts. */
const mayStart = (error: unknown): boolean =>
  meaningOfError(error) === 'unavailable' && !/^(28|3D)/.test(sqlStateOf(error) ?? '');
