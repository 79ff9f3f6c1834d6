import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { readVersion, withClient } from '../platform/db/connections/roles.js';
import { writeAndRollBack } from '../platform/db/health.js';
import { describeFailure, isRefusedLogin, meaningOfError, sqlStateOf } from '../platform/db/violations.js';

const PAUSE_MS = 500;

/**
 * How long a start waits for its database. Longer than the 15 seconds for which pgbouncer refuses every login after a failed one
 * (server_login_retry), and so long that systemd, which gives up after five starts within 60 seconds, never does because of an outage.
 */
const START_LIMIT_MS = 20_000;

type Log = (line: string) => void;

type Attempts = {
  limitMs: number;
  /** Whether the same work may succeed later. */
  mayPass: (error: unknown, attempt: number) => boolean;
  /** Called with the first error that may pass. */
  onFirst?: (error: unknown) => void;
};

/** Repeats work until it succeeds. @throws the last error, if it will not pass or the time is over */
async function repeat<Result>(work: () => Promise<Result>, { limitMs, mayPass, onFirst }: Attempts) {
  const deadlineMs = performance.now() + limitMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error, attempt) || performance.now() > deadlineMs) throw error;
      if (attempt === 1) onFirst?.(error);
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Waits until a server that starts accepts connections. A wrong password, or a database that does not exist, ends the wait.
 *
 * @throws the last error if the server is not there in time
 */
export async function awaitServer(url: string, limitMs: number): Promise<void> {
  await repeat(() => readVersion(url), { limitMs, mayPass: mayStart });
}

/** A refused login (28) and a missing database (3D) may be temporary for a request, but not while a server starts. */
const mayStart = (error: unknown): boolean =>
  meaningOfError(error) === 'unavailable' && !/^(28|3D)/.test(sqlStateOf(error) ?? '');

/**
 * Returns the server's version. Repeats a connection that fails because the server is away, and a login that is refused, because the
 * password of PostgreSQL, the pooler and the setting are not changed at the same moment.
 *
 * @param log called once, before the first repetition
 * @throws the last error, if there is still one after 20 seconds; at once if the first one will not pass, as with a missing database
 */
export function awaitDatabase(setting: string, url: string, log: Log): Promise<number> {
  return repeat(() => readVersion(url), {
    limitMs: START_LIMIT_MS,
    // After the refusal, pgbouncer lets the next ones wait for a connection to the server until they time out.
    mayPass: (error, attempt) => attempt > 1 || mayStart(error) || isRefusedLogin(error),
    onFirst: (error) => log(describeAttempt(setting, error)),
  });
}

/**
 * Waits until the database stores something. During a failover the address may lead to a standby.
 *
 * @param log called once, before the first repetition
 * @throws the last error if the database stores nothing for 20 seconds, because its disk is full or it is read-only
 */
export async function awaitStorage(setting: string, url: string, log: Log): Promise<void> {
  const probe = (client: pg.Client) => writeAndRollBack(client);
  await repeat(() => withClient(url, probe), {
    limitMs: START_LIMIT_MS,
    mayPass: (error, attempt) => storesNothing(error) || (attempt > 1 && mayStart(error)),
    onFirst: (error) => log(describeAttempt(setting, error)),
  }).catch((error: unknown) => {
    // A login without the right to create temporary tables cannot try.
    if (storesNothing(error) || mayStart(error)) throw error;
  });
}

const storesNothing = (error: unknown): boolean =>
  ['read_only', 'unwritable'].includes(meaningOfError(error));

const describeAttempt = (setting: string, error: unknown): string =>
  `${setting}: ${describeFailure(error).replace(/\.$/, '')}. Trying again for ${START_LIMIT_MS / 1_000} seconds.`;
