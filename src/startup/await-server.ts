import { setTimeout as sleep } from 'node:timers/promises';
import { describeFailure, isRefusedLogin, meaningOfError, sqlStateOf } from '../platform/db/violations.js';
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

/** Longer than the 15 seconds for which pgbouncer refuses every login after a failed one (server_login_retry). */
const LOGIN_LIMIT_MS = 20_000;

/**
 * Returns the server's version. Repeats a login that is refused, because the password of PostgreSQL, the pooler and the setting are not
 * changed at the same moment.
 *
 * @param log called once, before the first repetition
 * @throws the last error, if there is still one after 20 seconds; at once if the first one is no refused login
 */
export async function awaitLogin(setting: string, url: string, log: (line: string) => void): Promise<number> {
  const deadlineMs = performance.now() + LOGIN_LIMIT_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readVersion(url);
    } catch (error) {
      // After the refusal, pgbouncer lets the next ones wait for a connection to the server until they time out.
      const mayPass = attempt > 1 || isRefusedLogin(error);
      if (!mayPass || performance.now() > deadlineMs) throw error;
      if (attempt === 1)
        log(
          `${setting}: ${describeFailure(error).replace(/\.$/, '')}. Trying again for ${LOGIN_LIMIT_MS / 1_000} seconds.`,
        );
      await sleep(PAUSE_MS);
    }
  }
}
