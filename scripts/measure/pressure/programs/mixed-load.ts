import { Agent } from 'node:http';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, send, type Call } from '../client.js';

// Runs as a child process: sends several streams of requests, each at a fixed rate, whether or not earlier requests are complete.

/** Requests of one kind, which `fill` numbers. */
export type Stream = {
  name: string;
  perSecond: number;
  /** Sent in turn. */
  calls: Call[];
  /** Failure codes that are correct answers to these requests. */
  expected: string[];
  /** Whether it counts among the light requests. */
  isLight: boolean;
  /** Whether each request opens a connection of its own, as different clients do without a proxy. */
  hasOwnConnections: boolean;
};

export type MixedLoad = { port: number; seconds: number; streams: Stream[] };

/** Milliseconds, from the time at which the request was due. */
export type Latency = { p50: number; p90: number; p99: number; max: number };

export type StreamResult = {
  name: string;
  latency: Latency;
  /** The number of answers by status and code. */
  answers: Record<string, number>;
  completed: number;
  failed: number;
};

export type MixedLoadResult = {
  streams: StreamResult[];
  /** All streams of light requests. */
  light: Latency;
  cpuMs: number;
  /** The greatest delay of this program's own event loop, which adds to the latencies. */
  ownDelayMs: number;
};

const MICROSECONDS = 1_000;

process.once('message', (load: MixedLoad) => {
  void run(load).then((result) => {
    process.send?.(result);
    process.disconnect();
  });
});

async function run({ port, seconds, streams }: MixedLoad): Promise<MixedLoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const ownDelay = monitorEventLoopDelay({ resolution: 1 });
  const light = createHistogram();
  const startCpu = process.cpuUsage();
  const runId = Math.random().toString(36).slice(2, 8);
  ownDelay.enable();
  const startedMs = performance.now() + 100;
  const results = await Promise.all(
    streams.map((stream, index) => {
      // Spread, so that the streams do not send their first requests at the same time.
      const firstMs = startedMs + (index * 1_000) / stream.perSecond / streams.length;
      const sender = stream.hasOwnConnections ? (false as const) : agent;
      return runStream({
        stream,
        port,
        agent: sender,
        firstMs,
        endMs: startedMs + seconds * 1_000,
        runId,
        light,
      });
    }),
  );
  const { user, system } = process.cpuUsage(startCpu);
  agent.destroy();
  return {
    streams: results,
    light: latencyOf(light),
    cpuMs: (user + system) / MICROSECONDS,
    ownDelayMs: ownDelay.max / 1e6,
  };
}

type Run = {
  stream: Stream;
  port: number;
  agent: Agent | false;
  firstMs: number;
  endMs: number;
  runId: string;
  light: ReturnType<typeof createHistogram>;
};

async function runStream({ stream, port, agent, firstMs, endMs, runId, light }: Run): Promise<StreamResult> {
  const { name, perSecond, calls, expected } = stream;
  const own = createHistogram();
  const answers: Record<string, number> = {};
  const open = new Set<Promise<void>>();
  let completed = 0;
  let failed = 0;
  const sendAt = async (call: Call, dueMs: number) => {
    const { status, code } = await send(port, agent, call);
    const tookMicros = Math.max(1, Math.round((performance.now() - dueMs) * MICROSECONDS));
    own.record(tookMicros);
    if (stream.isLight) light.record(tookMicros);
    const answer = `${status} ${code}`.trim();
    answers[answer] = (answers[answer] ?? 0) + 1;
    completed += 1;
    if ((status < 200 || status > 299) && !expected.includes(code)) failed += 1;
  };
  for (let n = 0; ; n += 1) {
    const dueMs = firstMs + (n * 1_000) / perSecond;
    if (dueMs >= endMs) break;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const call = calls[n % calls.length];
    if (!call) throw new Error(`The stream ${name} has no calls.`);
    const sent = sendAt(fill(call, `${runId}-${n}`), dueMs).finally(() => open.delete(sent));
    open.add(sent);
  }
  await Promise.all(open);
  return { name, latency: latencyOf(own), answers, completed, failed };
}

const latencyOf = (histogram: ReturnType<typeof createHistogram>): Latency => ({
  p50: histogram.percentile(50) / MICROSECONDS,
  p90: histogram.percentile(90) / MICROSECONDS,
  p99: histogram.percentile(99) / MICROSECONDS,
  max: histogram.max / MICROSECONDS,
});
