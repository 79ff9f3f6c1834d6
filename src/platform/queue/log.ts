import { Logger } from 'graphile-worker';

export type QueueLine = { level: 'error' | 'warning' | 'info' | 'debug'; text: string };

/** graphile-worker's log lines, given to `write`. */
export function queueLogger(write: (line: QueueLine) => void): Logger {
  return new Logger(() => (level, text) => write({ level, text }));
}
