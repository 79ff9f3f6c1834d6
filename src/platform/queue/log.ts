import { Logger } from 'graphile-worker';

export type QueueLine = { level: 'error' | 'warning' | 'info' | 'debug'; text: string };

/** The library's advice to have a connection per job. Jobs use another pool than the queue, so it does not apply. */
const POOL_SIZE_ADVICE = 'smaller than concurrency';

/** Returns a logger for graphile-worker that passes its lines to `write`, without those of failed jobs: jobs log their own end. */
export function queueLogger(write: (line: QueueLine) => void): Logger {
  return new Logger(() => (level, text, meta) => {
    if (!text.includes(POOL_SIZE_ADVICE) && meta?.['failure'] !== true) write({ level, text });
  });
}
