// Our own, not close-with-grace 2.5.0: it exits with 1 on a second signal, and npm causes two on each Ctrl-C (first-run.test.ts sends two and expects 0).
import { basename } from 'node:path';
import { ConfigError, readConfig, type Config } from '../config/config.js';
import { commandLine, describeArguments, isHelpAsked } from '../config/commands.js';
import { environment } from '../config/command-settings.js';
import type { Connection } from '../platform/db/connections/pool.js';
import type { serveMetrics, ServedMetrics } from '../platform/metrics/serve.js';
import { announceProcess } from './announce-process.js';
import { misspeltLines } from './shared-checks/misspelt-settings.js';
import { startWarnings } from './shared-checks/start-warnings.js';
import { prepareDatabase, type LoadDemo, type PreparedDatabase } from './prepare-database.js';

/** Docker, systemd and rolling updates kill a process after ten seconds. The process exits before that. */
export const EXIT_MS = 9_500;

/** The time limit for open requests and running jobs after a signal. */
export const DRAIN_MS = 7_500;

export const print = (line: string) => process.stderr.write(`${line}\n`);

/** Lets a server go on when what it prints cannot be written, for example because the disk is full. Call it at the start. */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Returns the connection settings for the pools of this process. */
export const connectionOf = ({ url, assumeRole, isBehindPooler }: PreparedDatabase): Connection => ({
  url,
  ...(assumeRole ? { assumeRole } : {}),
  isBehindPooler,
  onError,
});

/** Returns the connection settings for the queue. They bypass a pooler, if there is one. */
export const queueConnectionOf = (database: PreparedDatabase): Connection =>
  database.direct ? { ...database.direct, onError } : connectionOf(database);

const onError = (error: Error) => print(`A database connection broke: ${error.message}`);

/** Serves metrics. The code is loaded only here, because without a port for metrics nobody needs it. */
export async function startMetrics(...options: Parameters<typeof serveMetrics>): Promise<ServedMetrics> {
  const { serveMetrics } = await import('../platform/metrics/serve.js');
  return serveMetrics(...options);
}

const USAGE = `Usage: crossdock serve, or crossdock worker. Neither has options: all settings are environment variables, which docs/settings.md lists.
${commandLine('doctor')} examines them.
`;

export type Stop = {
  /** Returns the received signal; undefined before. */
  signal(): NodeJS.Signals | undefined;
  /** Resolves when a signal is received. */
  received: Promise<void>;
};

/** The work of a process, from a prepared database until a signal arrives. */
export type Work = (database: PreparedDatabase, config: Config, stop: Stop) => Promise<void>;

/**
 * Reads the settings, prepares the database, runs the work and ends the process. If settings are faulty, it prints one line
 * per fault and the exit status is 1.
 *
 * @param open begins to load the work, which takes as long as preparing the database
 * @param runsJobs returns whether the process runs jobs with these settings
 * @param loadDemo loads the demo data in development. A release has none
 */
export async function runProcess(
  open: (config: Config) => Work | Promise<Work>,
  runsJobs: (config: Config) => boolean,
  loadDemo?: LoadDemo,
): Promise<never> {
  surviveLostOutput();
  if (isHelpAsked()) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const stop = listenForSignals();
  try {
    const unknown = describeArguments();
    if (unknown) throw new ConfigError([unknown, USAGE.trimEnd()]);
    // First, because a misspelt name may be why the settings are refused.
    for (const line of misspeltLines(environment())) print(line);
    const config = readConfig();
    const opening = Promise.resolve(open(config));
    const database = await prepareDatabase(config, print, runsJobs(config), loadDemo);
    const started = { config, env: environment(), now: () => new Date(), runsJobs: runsJobs(config) };
    for (const line of await startWarnings(started)) print(line);
    const leave = await announceProcess(config, basename(process.argv[1] ?? '', '.js'), database.url);
    try {
      await (
        await opening
      )(database, config, stop);
    } finally {
      await leave();
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
  const received = new Promise<void>((resolve) => {
    const onSignal = (signal: NodeJS.Signals) => {
      stopSignal ??= signal;
      setTimeout(() => process.exit(1), EXIT_MS).unref();
      resolve();
    };
    // `on` instead of `once`: under npm, Ctrl-C sends two signals, and the second would kill the process.
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
  return { signal: () => stopSignal, received };
}
