// Our own, not close-with-grace 2.5.0: it exits with 1 on a second signal, and npm causes two on each Ctrl-C (first-run.test.ts sends two and expects 0).
import { ConfigError, readConfig, type Config } from '../config/config.js';
import type { Connection } from '../platform/db/connections/pool.js';
import { prepareDatabase, type PreparedDatabase } from './prepare-database.js';

/** What starts us (docker, systemd, a rolling update) kills after ten seconds: end by ourselves before. */
const EXIT_MS = 9_500;

/** How long what is under way may take to finish after a signal. */
export const DRAIN_MS = 7_500;

export const print = (line: string) => process.stderr.write(`${line}\n`);

/** How pools of this process connect. */
export const connectionOf = ({ url, assumeRole, isBehindPooler }: PreparedDatabase): Connection => ({
  url,
  ...(assumeRole ? { assumeRole } : {}),
  isBehindPooler,
  onError,
});

/** How its queue connects: past a pooler, if there is one. */
export const queueConnectionOf = (database: PreparedDatabase): Connection =>
  database.direct ? { ...database.direct, onError } : connectionOf(database);

const onError = (error: Error) => print(`A database connection broke: ${error.message}`);

export type Stop = {
  /** The signal that came, once it has. */
  signal(): NodeJS.Signals | undefined;
  /** Resolves when it comes. */
  told: Promise<void>;
};

/**
 * Runs `work` on a database that is ready, from the settings, and ends the process after it: with 1 when the settings are
 * at fault, which is printed, a line each.
 *
 * @param worksQueue whether the process works the queue under these settings
 */
export async function runProcess(
  work: (database: PreparedDatabase, config: Config, stop: Stop) => Promise<void>,
  worksQueue: (config: Config) => boolean,
): Promise<never> {
  const stop = listenForSignals();
  try {
    const config = readConfig();
    const database = await prepareDatabase(config, print, worksQueue(config));
    try {
      await work(database, config, stop);
    } finally {
      await database.stop();
    }
    process.exit(0);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) print(fault);
    process.exit(1);
  }
}

function listenForSignals(): Stop {
  let stopSignal: NodeJS.Signals | undefined;
  const told = new Promise<void>((resolve) => {
    const onSignal = (signal: NodeJS.Signals) => {
      stopSignal ??= signal;
      setTimeout(() => process.exit(1), EXIT_MS).unref();
      resolve();
    };
    // on, not once: under npm a Ctrl-C comes twice, from the terminal and from npm, and the second would kill us
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
  return { signal: () => stopSignal, told };
}
