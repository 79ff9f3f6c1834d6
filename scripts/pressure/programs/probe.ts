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
  memory: { rss: number; heapUsed: number };
};

export type ProbeRequest = { collectsGarbage: boolean };

const RESOLUTION_MS = 5;

if (isMainThread && process.send) startProbe(process.send.bind(process));

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
    const { rss, heapUsed } = process.memoryUsage();
    send({ delay, longestBlockMs, memory: { rss, heapUsed } });
    // Without the collection itself.
    delays.reset();
    takeLongestBlock();
  });
  // The listener must not keep the process alive.
  process.channel?.unref();
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
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    return undefined;
  }
}
