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

export type MixedLoad = {
  port: number;
  seconds: number;
  /** Requests that are due earlier are sent, and not measured. */
  settleSeconds?: number;
  /** Connections that are open before the first request, as those of a proxy. More are opened as needed. */
  connections?: number;
  streams: Stream[];
};

/** Milliseconds, from the time at which the request was due. */
export type Latency = { p50: number; p90: number; p99: number; max: number };

export type StreamResult = {
  name: string;
  latency: Latency;
  /** The number of answers by status and code. */
  answers: Record<string, number>;
  completed: number;
  failed: number;
  /** Those with a success, and of these the ones that were complete before the end. */
  admitted: number;
  inTime: number;
};

export type MixedLoadResult = {
  streams: StreamResult[];
  /** All streams of light requests. */
  light: Latency;
  /** Of the light requests, those that succeeded, and those that were refused with 503. */
  admitted: Latency;
  refused: Latency;
  cpuMs: number;
  /** The greatest delay of this program's own event loop, and the 99th percentile, which add to the latencies. */
  ownDelayMs: number;
  ownDelayP99Ms: number;
};

const MICROSECONDS = 1_000;

process.once('message', (load: MixedLoad) => {
  void run(load).then((result) => {
    process.send?.(result);
    process.disconnect();
  });
});

async function run({
  port,
  seconds,
  settleSeconds = 0,
  connections = 0,
  streams,
}: MixedLoad): Promise<MixedLoadResult> {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connections || Infinity,
    maxFreeSockets: connections || 256,
  });
  const ownDelay = monitorEventLoopDelay({ resolution: 1 });
  const measured = { light: createHistogram(), admitted: createHistogram(), refused: createHistogram() };
  const startCpu = process.cpuUsage();
  const runId = Math.random().toString(36).slice(2, 8);
  await openConnections(port, agent, connections);
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
        measuredMs: startedMs + settleSeconds * 1_000,
        endMs: startedMs + seconds * 1_000,
        runId,
        measured,
      });
    }),
  );
  const { user, system } = process.cpuUsage(startCpu);
  agent.destroy();
  return {
    streams: results,
    light: latencyOf(measured.light),
    admitted: latencyOf(measured.admitted),
    refused: latencyOf(measured.refused),
    cpuMs: (user + system) / MICROSECONDS,
    ownDelayMs: ownDelay.max / 1e6,
    ownDelayP99Ms: ownDelay.percentile(99) / 1e6,
  };
}

/** Node accepts one new connection in each turn of its event loop, so that they would wait for longest in an overload. */
async function openConnections(port: number, agent: Agent, count: number): Promise<void> {
  const call: Call = { method: 'GET', path: '/health', headers: {} };
  await Promise.all(Array.from({ length: count }, () => send(port, agent, call)));
}

type Run = {
  stream: Stream;
  port: number;
  agent: Agent | false;
  firstMs: number;
  measuredMs: number;
  endMs: number;
  runId: string;
  measured: Record<'light' | 'admitted' | 'refused', ReturnType<typeof createHistogram>>;
};

async function runStream({
  stream,
  port,
  agent,
  firstMs,
  measuredMs,
  endMs,
  runId,
  measured,
}: Run): Promise<StreamResult> {
  const { name, perSecond, calls, expected } = stream;
  const own = createHistogram();
  const answers: Record<string, number> = {};
  const open = new Set<Promise<void>>();
  let completed = 0;
  let failed = 0;
  let admitted = 0;
  let inTime = 0;
  const sendAt = async (call: Call, dueMs: number) => {
    const { status, code } = await send(port, agent, call);
    if (dueMs < measuredMs) return;
    const tookMicros = Math.max(1, Math.round((performance.now() - dueMs) * MICROSECONDS));
    own.record(tookMicros);
    const isSuccess = status >= 200 && status <= 299;
    if (isSuccess) admitted += 1;
    if (isSuccess && performance.now() < endMs) inTime += 1;
    if (stream.isLight) measured.light.record(tookMicros);
    if (stream.isLight && (isSuccess || status === 503))
      measured[isSuccess ? 'admitted' : 'refused'].record(tookMicros);
    const answer = `${status} ${code}`.trim();
    answers[answer] = (answers[answer] ?? 0) + 1;
    completed += 1;
    if (!isSuccess && !expected.includes(code)) failed += 1;
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
  return { name, latency: latencyOf(own), answers, completed, failed, admitted, inTime };
}

const latencyOf = (histogram: ReturnType<typeof createHistogram>): Latency => ({
  p50: histogram.percentile(50) / MICROSECONDS,
  p90: histogram.percentile(90) / MICROSECONDS,
  p99: histogram.percentile(99) / MICROSECONDS,
  max: histogram.max / MICROSECONDS,
});
