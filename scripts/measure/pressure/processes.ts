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
};

const PROBE = fileURLToPath(new URL('./programs/probe.js', import.meta.url));

/** Starts the built service and worker as an operator does, without their logs. */
export async function startProcesses(databaseUrl: string, ownerUrl: string): Promise<Processes> {
  const port = await freePort();
  const metricsPort = await freePort();
  const env = {
    ...environmentOf(databaseUrl, ownerUrl),
    // As in every deployment (docs/operations.md, Memory).
    MALLOC_ARENA_MAX: '2',
    // The flood's logins come from many addresses.
    TRUST_PROXY: '127.0.0.1',
  };
  const serviceEnv = { ...env, PORT: String(port), METRICS_PORT: String(metricsPort), RUN_WORKER: 'false' };
  const service = start('main.js', serviceEnv);
  try {
    await waitUntilReady(service.child, port);
    const worker = start('worker.js', env);
    return { port, metricsPort, service: service.probed, worker: worker.probed };
  } catch (error) {
    await service.probed.stop();
    throw error;
  }
}

function start(program: string, env: NodeJS.ProcessEnv): { child: ChildProcess; probed: ProbedProcess } {
  const { child, exited, stop } = startProgram(program, env, PROBE);
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
