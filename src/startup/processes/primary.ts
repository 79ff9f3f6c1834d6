import type { Config } from '../../config/config.js';
import { environmentOfChildren } from '../../config/environments.js';
import { divide } from '../../config/processes.js';
import type { WriteFailure } from '../../platform/db/health.js';
import { watchReadiness } from '../../platform/http/connections/graceful-shutdown.js';
import { serveLimits } from '../../platform/limits/shared/limits-for-children.js';
import { makeOwnLimits } from '../../platform/limits/shared/shared-limits.js';
import type { PreparedDatabase } from '../prepare-database.js';
import { connectionOf, print, startMetrics, type Stop, type Work } from '../process.js';
import type { Place, Role, StopOrder } from './channel.js';
import { forkChild, type Child, type OfChildren } from './fork.js';
import { keepRunning, type Kept } from './keep-running.js';
import { openMergedMetrics } from './merged-metrics.js';
import { watchLoops } from './watch-loops.js';
import { openLog } from '../../platform/logging/log-stream.js';

/**
 * Begins a server of several processes: `API_PROCESSES` that serve requests on the same port, and one that runs jobs, unless
 * RUN_WORKER=false. This process is the primary one: it serves no requests, and has what holds for all processes together
 * (decision 0099). The child processes load while it prepares the database.
 *
 * @param welcome returns what the terminal of a developer shows when the service serves
 * @returns what serves from a prepared database until a signal arrives
 */
export function openProcesses(config: Config, welcome?: (base: string) => string): Work {
  const settings = environmentOfChildren();
  const readiness = watchReadiness();
  const merged = openMergedMetrics();
  const kept: Kept[] = [];
  const forked = new Set<Child>();
  let writeFailure: WriteFailure | null = null;
  let signal: NodeJS.Signals | undefined;
  const stopOrder = (): StopOrder => {
    const agoMs = readiness.askedAgoMs();
    return { signal, readinessAskedAgoMs: agoMs === Infinity ? undefined : agoMs };
  };
  const ofChildren: OfChildren = {
    limits: serveLimits(makeOwnLimits()),
    onWriteState(child, failure) {
      writeFailure = failure;
      for (const other of forked)
        if (other !== child && other.isServing()) other.noteWriteState(failure).catch(() => undefined);
    },
    onReadinessAsked: () => readiness.noteAsked(),
    onSignal: (child, received) => child.stop({ ...stopOrder(), signal: received }),
  };
  const fork = (role: Role): Child => {
    const child = forkChild(role, ofChildren);
    merged.add(child);
    forked.add(child);
    void child.ended.then(() => forked.delete(child));
    // One that is started again.
    const tell = () => (writeFailure ? child.noteWriteState(writeFailure) : undefined);
    child.started.then(tell).catch(() => undefined);
    return child;
  };
  // A refused start ends this process while the others still load. Node would print an error of its own in each, because it cannot report.
  process.once('exit', () => {
    for (const child of forked) if (!child.hasStarted()) child.kill();
  });
  const firstOnes = divide(config.poolSize, config.apiProcesses).map((poolSize) => ({
    poolSize,
    first: fork('api'),
  }));

  return async function serve(database: PreparedDatabase, _config: Config, stop: Stop): Promise<void> {
    const log = openLog(config.logLevel);
    const { stop: _stop, ...prepared } = database;
    const traces = divide(config.tracing?.callersPerSecond ?? 0, config.apiProcesses);
    const orderOf = (poolSize: number, index: number) => () => ({
      settings,
      database: prepared,
      poolSize,
      tracesPerSecond: traces[index] ?? 0,
    });
    const keep = (role: Role, first: Child, order: ReturnType<typeof orderOf>): Kept => {
      const place = keepRunning({
        first,
        order,
        fork: () => fork(role),
        hasOthers: () =>
          kept.some((other) => other !== place && other.child().role === role && other.child().isServing()),
        log,
      });
      kept.push(place);
      return place;
    };
    /** Starts processes of a role. @throws ConfigError if one of them cannot start */
    const begin = async (children: { first: Child; poolSize: number }[], role: Role): Promise<Place[]> => {
      for (const [index, { first, poolSize }] of children.entries()) {
        const order = orderOf(poolSize, index);
        first.start(order());
        keep(role, first, order);
      }
      const places = await Promise.all(children.map(({ first }) => first.started));
      return places.flatMap((place) => place ?? []);
    };

    const metrics =
      config.metrics && (await startMetrics(config.metrics, connectionOf(database), merged.read));
    const unwatch = watchLoops(() => kept.map((each) => each.child()), log);
    try {
      const [place] = await untilSignal(stop, begin(firstOnes, 'api'));
      if (!place) return;
      for (const text of place.texts) log.info({ processes: config.apiProcesses }, text);
      if (metrics) log.info({ port: metrics.port }, 'serving metrics');
      if (config.worker.inProcess)
        await untilSignal(stop, begin([{ first: fork('jobs'), poolSize: config.worker.poolSize }], 'jobs'));
      if (welcome && config.appEnv === 'development') print(welcome(place.base));
      await Promise.race([stop.received, ...kept.map(({ running }) => running)]);
      log.info({ signal: stop.signal() }, 'closing');
    } finally {
      signal = stop.signal();
      unwatch();
      await Promise.all(kept.map((each) => each.stop(stopOrder())));
      await metrics?.close();
    }
  };
}

/** Returns what the work returns, or nothing if a signal arrives first. */
const untilSignal = (stop: Stop, work: Promise<Place[]>): Promise<Place[]> =>
  Promise.race([work, stop.received.then((): Place[] => [])]);
