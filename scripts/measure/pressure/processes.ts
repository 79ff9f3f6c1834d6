import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environmentOf, freePort, startProgram, waitUntilReady } from '../rig/service.js';
import type { Probed, ProbeRequest } from './programs/probe.js';

/** The service or the worker in a process of its own, with a probe. */
type ProbedProcess = {
  pid: number;
  /** Returns the measurements since the last call. */
  probe(request?: ProbeRequest): Promise<Probed>;
  stop(): Promise<void>;
};

export type Processes = {
  port: number;
  metricsPort: number;
  service: ProbedProcess;
  worker: ProbedProcess;
  /** Returns the longest delay of an event loop of the service since the last call. */
  takeStall(): Promise<Stall>;
};

/** Milliseconds. `ownMs` is the longest work of one turn in CPU time, undefined if it is not known. */
export type Stall = { longestMs: number; ownMs: number | undefined };

/** How large the service is. */
export type ServiceSize = { processes: number; connections: number };

const PROBE = fileURLToPath(new URL('./programs/probe.js', import.meta.url));

/** Starts the built service and worker as an operator does, without their logs. */
export async function startProcesses(
  databaseUrl: string,
  ownerUrl: string,
  { processes, connections }: ServiceSize,
): Promise<Processes> {
  const port = await freePort();
  const metricsPort = await freePort();
  const env = {
    ...environmentOf(databaseUrl, ownerUrl),
    // As in every deployment (docs/operations.md, Memory).
    MALLOC_ARENA_MAX: '2',
    // The flood's logins come from many addresses.
    TRUST_PROXY: '127.0.0.1',
  };
  const serviceEnv = {
    ...env,
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    RUN_WORKER: 'false',
    API_PROCESSES: String(processes),
    POOL_SIZE: String(connections),
  };
  const service = start('main.js', serviceEnv);
  try {
    await waitUntilReady(service.child, port);
    const worker = start('worker.js', env);
    // The probe would measure the primary process, which serves no requests.
    const takeStall = () => (processes > 1 ? readLag(metricsPort) : probeStall(service.probed));
    return { port, metricsPort, service: service.probed, worker: worker.probed, takeStall };
  } catch (error) {
    await service.probed.stop();
    throw error;
  }
}

async function probeStall(service: ProbedProcess): Promise<Stall> {
  const { delay, longestBlockMs } = await service.probe();
  return { longestMs: delay.max, ownMs: longestBlockMs };
}

/** The largest lag of the processes since the last scrape. */
async function readLag(metricsPort: number): Promise<Stall> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text) ?? [];
  return { longestMs: Number(seconds) * 1_000, ownMs: undefined };
}

function start(program: string, env: NodeJS.ProcessEnv): { child: ChildProcess; probed: ProbedProcess } {
  const { child, exited, stop } = startProgram(program, { env, probe: PROBE });
  return {
    child,
    probed: {
      pid: child.pid ?? 0,
      async probe(request = { collectsGarbage: false }) {
        child.send(request);
        const ended = exited.then(() => Promise.reject(new Error(`${program} ended during the run.`)));
        // The probe answers each message with its measurements.
        const [probed] = (await Promise.race([once(child, 'message'), ended])) as [Probed];
        return probed;
      },
      stop,
    },
  };
}
