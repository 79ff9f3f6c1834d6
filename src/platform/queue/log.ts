import { Logger } from 'graphile-worker';

export type QueueLine = { level: 'error' | 'warning' | 'info' | 'debug'; text: string };

/** Returns a logger for graphile-worker that passes its lines to `write`. */
export function queueLogger(write: (line: QueueLine) => void): Logger {
  return new Logger(() => (level, text) => write({ level, text }));
}
