import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ConfigError } from '../config/config.js';
import { ApiError } from '../platform/errors/errors.js';
import { readVersion, withClient } from '../platform/db/connections/roles.js';
import { writeAndRollBack } from '../platform/db/health.js';
import {
  describeFailure,
  isAway,
  isRefusedLogin,
  isRetryable,
  meaningOfError,
  sqlStateOf,
} from '../platform/db/violations.js';

const PAUSE_MS = 500;

/**
 * How long a start waits for its database. Longer than the 15 seconds for which pgbouncer refuses every login after a failed one
 * (server_login_retry), and so long that systemd, which gives up after five starts within 60 seconds, never does because of an outage.
 */
const START_LIMIT_MS = 20_000;

type Log = (line: string) => void;

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

/**
 * Runs a step of a start, and repeats it while its database fails in a way that may pass by itself.
 *
 * @param setting the one with the URL of the database
 * @throws ConfigError, or the error of the step if it will not pass
 */
export type Repeat = <Result>(setting: string, step: () => Promise<Result>) => Promise<Result>;

/**
 * Returns what repeats the steps of one start. All of them together have 20 seconds from the first failure, so that a start never ends
 * sooner because of an outage, in whichever step it begins.
 *
 * @param log called before the first repetition, once per setting and reason
 * @param isPooled whether DATABASE_URL leads to a pooler, which has a copy of the password
 */
export function makeRepeat(log: Log, isPooled: boolean): Repeat {
  let deadlineMs: number | undefined;
  const reported = new Set<string>();

  return async function repeat(setting, step) {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!mayPass(error)) throw error;
        deadlineMs ??= performance.now() + START_LIMIT_MS;
        const leftMs = deadlineMs - performance.now();
        const hint =
          isPooled && setting === 'DATABASE_URL' && isRefusedLogin(failureOf(error)) ? POOLER_HINT : '';
        const reason = `${setting}: ${describeFailure(failureOf(error)).replace(/\.$/, '')}.${hint}`;
        if (leftMs < 0)
          throw error instanceof ConfigError ? error : new ConfigError([reason], { cause: error });
        if (!reported.has(reason)) log(`${reason} Trying again for ${Math.ceil(leftMs / 1_000)} seconds.`);
        reported.add(reason);
        await sleep(PAUSE_MS);
      }
    }
  };
}

const POOLER_HINT =
  ' The pooler may still have the old password: see "pgbouncer without a container" in docs/deploy.md.';

/** Returns the failure of the database that a fault of a start describes. Any other fault is its own. */
const failureOf = (error: unknown): unknown =>
  error instanceof ConfigError && error.cause !== undefined ? error.cause : error;

/**
 * Returns whether a failed step may succeed later: the server is away or has no free connection, stores nothing, or refuses the login,
 * because the password of PostgreSQL, the pooler and the setting are not changed at the same moment.
 */
export function mayPass(error: unknown): boolean {
  const failure = failureOf(error);
  if (failure instanceof ConfigError) return false;
  if (failure instanceof ApiError) return isAway(failure);
  return mayStart(failure) || isRefusedLogin(failure) || isRetryable(failure) || storesNothing(failure);
}

const storesNothing = (error: unknown): boolean =>
  ['read_only', 'unwritable'].includes(meaningOfError(error));

/**
 * Tries whether the database stores something. During a failover the address may lead to a standby.
 *
 * @throws the error if it does not, because its disk is full or it is read-only
 */
export async function assertStorage(url: string): Promise<void> {
  await withClient(url, (client: pg.Client) => writeAndRollBack(client)).catch((error: unknown) => {
    // A login without the right to create temporary tables cannot try.
    if (mayPass(error)) throw error;
  });
}
