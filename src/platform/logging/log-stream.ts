import { Socket } from 'node:net';
import { pino, type DestinationStream, type Logger } from 'pino';
import { openLineWriter } from './line-writer.js';

const { stdout } = process;

// After the end and after an uncaught error there is no next turn.
const output = openLineWriter({ fd: stdout.fd, unblock: makeUnblock() }, (lines) =>
  pino({ level: 'warn' }, output).warn(
    { event: 'log.lines_lost', lines },
    'the log could not be written for a time, and lines were lost',
  ),
);
process.once('exit', output.end);

/** Standard output for all lines of the log, so that they are in order. */
export const logStream: DestinationStream = output;

/** Returns a log on standard output. */
export const openLog = (level: string): Logger => pino({ level }, output);

/** The lines that could not be written, since the start of this process. */
export const countLostLines = (): number => output.lost();

/**
 * Returns a function that makes standard output non-blocking if it is a pipe or a socket. Once is not enough: the mode belongs to all
 * processes that share it. libuv resets it in each child process that inherits it, and Node at the end of each such process.
 */
function makeUnblock(): () => void {
  // Node has no other way to set the mode. The handle is not declared.
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } };
  // A file never blocks for a reader, and what a terminal has paused, its user continues.
  if (!(stdout instanceof Socket) || stdout.isTTY || !handle?.setBlocking) return () => undefined;
  return () => handle.setBlocking?.(false);
}
