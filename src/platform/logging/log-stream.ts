import { pino, type DestinationStream, type Logger } from 'pino';
import { openLineWriter } from './line-writer.js';

// Reading process.stdout makes a pipe or a socket non-blocking. The child processes of a server inherit that.
const output = openLineWriter(process.stdout.fd ?? 1, (lines) =>
  pino({ level: 'warn' }, output).warn(
    { event: 'log.lines_lost', lines },
    'the log could not be written for a time, and lines were lost',
  ),
);

// After the end and after an uncaught error there is no next turn.
process.once('exit', output.end);

/** Standard output for all lines of the log, so that they are in order. */
export const logStream: DestinationStream = output;

/** Returns a log on standard output. */
export const openLog = (level: string): Logger => pino({ level }, output);

/** The lines that could not be written, since the start of this process. */
export const countLostLines = (): number => output.lost();
