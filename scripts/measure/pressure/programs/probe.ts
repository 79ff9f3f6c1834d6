import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

// Loaded into the service and the worker with `node --expose-gc --import`. Measures their event loop and memory, and reports
// them to the parent process for each message.

/** Times in milliseconds, sizes in bytes. The times are those since the last report. */
export type Probed = {
  /** How late the event loop ran its timers. Other processes that use the processor also delay it. */
  delay: { p50: number; p99: number; max: number };
  /** The longest time that the event loop worked without a pause. Undefined where /proc does not show it. */
  longestBlockMs: number | undefined;
  /** After a garbage collection, if the message asked for one. */
  memory: {
    rss: number;
    heapUsed: number;
    heapTotal: number;
    /** Buffers outside of the heap. */
    external: number;
    /** What the C library's allocator and the threads' own heaps hold besides: anonymous memory without the heap and buffers. */
    otherAnonymous: number | undefined;
    threads: number | undefined;
  };
};

export type ProbeRequest = { collectsGarbage: boolean };

const RESOLUTION_MS = 5;

// The child processes of a server have other messages.
if (isMainThread && cluster.isPrimary && process.send) startProbe(process.send.bind(process));

function startProbe(send: (probed: Probed) => void): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const takeLongestBlock = watchBlocks();
  delays.enable();
  process.on('message', ({ collectsGarbage }: ProbeRequest) => {
    // The histogram contains the intervals between its timers, in nanoseconds.
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
    const delay = {
      p50: late(delays.percentile(50)),
      p99: late(delays.percentile(99)),
      max: late(delays.max),
    };
    const longestBlockMs = takeLongestBlock();
    if (collectsGarbage) globalThis.gc?.();
    send({ delay, longestBlockMs, memory: readMemory() });
    // Without the collection itself.
    delays.reset();
    takeLongestBlock();
  });
  // The listener must not keep the process alive.
  process.channel?.unref();
}

function readMemory(): Probed['memory'] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const status = readOwn('status') ?? '';
  const valueOf = (name: string) => {
    const [, value] = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  const anonymousKb = valueOf('RssAnon');
  return {
    rss,
    heapUsed,
    heapTotal,
    external,
    otherAnonymous: anonymousKb && anonymousKb * 1024 - heapTotal - external,
    threads: valueOf('Threads'),
  };
}

/** Returns undefined where the system has no such file. */
function readOwn(path: string): string | undefined {
  try {
    return readFileSync(`/proc/self/${path}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns a function that returns the longest block since its last call, in CPU time of this thread. */
function watchBlocks(): () => number | undefined {
  let beforeMs = workedMs();
  if (beforeMs === undefined) return () => undefined;
  let longestMs = 0;
  const measure = () => {
    const nowMs = workedMs() ?? 0;
    longestMs = Math.max(longestMs, nowMs - (beforeMs ?? 0));
    beforeMs = nowMs;
  };
  setInterval(measure, RESOLUTION_MS).unref();
  return () => {
    measure();
    const taken = longestMs;
    longestMs = 0;
    return taken;
  };
}

/** CPU time of the main thread. Other threads and processes do not count. */
function workedMs(): number | undefined {
  const stat = readOwn(`task/${process.pid}/schedstat`);
  return stat === undefined ? undefined : Number(stat.split(' ', 1)[0]) / 1e6;
}
