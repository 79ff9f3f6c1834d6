import cluster from 'node:cluster';
import { ConfigError, readConfig, type Config } from '../../config/config.js';
import type { PreparedDatabase } from '../prepare-database.js';
import { print, surviveLostOutput, type Stop } from '../process.js';
import type { Role, StartOrder } from './channel.js';
import { openPrimary, type Membership } from './membership.js';
import { openLog } from '../../platform/logging/log-stream.js';

/** The work of a child process, until it is told to stop. */
export type ChildWork = (
  database: PreparedDatabase,
  config: Config,
  stop: Stop,
  membership: Membership,
) => Promise<void>;

/**
 * Runs a child process: waits until the primary process has checked the settings and prepared the database, works until it is told to
 * stop or the primary process is lost, and ends the process.
 *
 * @param load begins to load what a role needs
 */
export async function runChild(load: (role: Role) => Promise<ChildWork>): Promise<never> {
  surviveLostOutput();
  const { worker } = cluster;
  if (!worker) {
    print('This program is a part of crossdock serve, which starts it. Run crossdock serve.');
    process.exit(1);
  }
  const primary = openPrimary(worker);
  // The primary process has given the role as the only argument.
  const loading = load(process.argv[2] as Role);
  const order = await primary.order;
  try {
    const config = configOf(order);
    const membership = primary.join(order.poolSize);
    membership.onPrimaryChange(reportChange(config));
    const database = { ...order.database, stop: () => Promise.resolve() };
    await (
      await loading
    )(database, config, primary.stop, membership);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    await primary.reportFailure(error.faults);
    process.exit(1);
  }
}

function reportChange({ logLevel }: Config): (isAnswering: boolean) => void {
  const log = openLog(logLevel);
  return (isAnswering) => {
    if (isAnswering) log.warn({ event: 'primary.answers' }, 'the primary process answers again');
    else
      log.error(
        { event: 'primary.silent' },
        'the primary process does not answer: this process goes on with limits of its own',
      );
  };
}

function configOf({ settings, tracesPerSecond }: StartOrder): Config {
  const config = readConfig(settings);
  const { tracing } = config;
  return {
    ...config,
    tracing: tracing && { ...tracing, callersPerSecond: tracesPerSecond },
  };
}
