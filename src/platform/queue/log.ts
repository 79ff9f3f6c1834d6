import { Logger } from 'graphile-worker';
import { recordOutages } from '../logging/outages.js';

export type QueueLine = { level: 'error' | 'warning' | 'info' | 'debug'; text: string };

/** The library's advice to have a connection per job. Jobs use another pool than the queue, so it does not apply. */
const POOL_SIZE_ADVICE = 'smaller than concurrency';

/** What the library says, about once per second and from several places, while the database is away. */
const AWAY =
  /^(Error occurred (fetching jobs|during fetch)|Error with notify listener|Failed to reset locked|Failed to return jobs)/;

const FETCH = /^Error occurred (fetching jobs|during fetch)/;

/** Returns a logger for graphile-worker that passes its lines to `write`, without those of failed jobs: jobs log their own end. */
export function queueLogger(write: (line: QueueLine) => void): Logger {
  return new Logger(() => (level, text, meta) => {
    if (!text.includes(POOL_SIZE_ADVICE) && meta?.['failure'] !== true) write({ level, text });
  });
}

/** The lines of a queue. */
export type QueueLog = {
  /** Writes a line. */
  write(line: QueueLine): void;
  /** Records that the queue has failed to reach its tables. The log has a line of the first time, and at most one per minute. */
  failed(text: string): void;
  /** Records that the queue has reached its tables. After a failure, the log has a line. */
  worked(): void;
  /** How long ago jobs could not be fetched for the last time, in milliseconds. Infinity before the first time. */
  msSinceFetchFailed(): number;
  /** For graphile-worker. */
  library: Logger;
};

export function openQueueLog(write: (line: QueueLine) => void): QueueLog {
  let fetchFailedAtMs = -Infinity;
  const record = recordOutages<{ reason: string; text: string }>({
    failed: ({ text }, count) =>
      write({
        level: 'error',
        text: count > 1 ? `${text} (${count} failures since the last such line)` : text,
      }),
    ended: (count) => write({ level: 'warning', text: `The queue works again, after ${count} failures.` }),
  });
  const failed = (text: string) => {
    if (FETCH.test(text)) fetchFailedAtMs = performance.now();
    record({ reason: 'failed', text });
  };
  return {
    write,
    failed,
    worked: () => record(undefined),
    msSinceFetchFailed: () => performance.now() - fetchFailedAtMs,
    library: queueLogger((line) => (AWAY.test(line.text) ? failed(line.text) : write(line))),
  };
}
