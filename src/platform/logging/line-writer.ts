import { writeSync } from 'node:fs';

/** What Linux writes to a pipe as one piece (PIPE_BUF). The processes of a server share the pipe. */
const PIECE_BYTES = 4 * 1024;

/** More text than this is written at once, before the end of the turn. */
const TURN_LENGTH = 8 * 1024;

/** Text that waits while nothing can be written, in UTF-16 code units. */
const MAX_WAITING = 4 * 1024 * 1024;

/** How long one turn of the event loop writes, in milliseconds. */
const SLICE_MS = 20;

/** The pauses between attempts while nothing can be written. They begin short, because a reader that is only slow soon has room again. */
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;

/** How long the end of the process waits for a reader. EXIT_MS of startup/process.ts leaves half a second. */
const END_MS = 300;

export type LineWriter = {
  /** Writes a line at the end of the turn, or drops it if too many wait. */
  write(line: string): void;
  /** Writes what waits, and nothing after that. For the end of the process: it waits for a reader for at most 300 ms, and not for a disk. */
  end(): void;
  /** The number of dropped lines. */
  lost(): number;
};

export type Output = {
  fd: number;
  /** Makes a pipe or a socket non-blocking. Called before each attempt to write. */
  unblock(): void;
};

/**
 * Writes lines to a file descriptor without waiting for its reader. The lines of one turn of the event loop are written together, because
 * a write for each line took an eighth of a request's CPU time. While the reader of a pipe does not read, or a disk is full, up to 4 MiB
 * wait, and further lines are dropped and counted. Only a process that is killed loses the lines of its last turn.
 *
 * Our own, not sonic-boom 4.2.1: its flushSync sleeps and repeats for ever after every error but EAGAIN and EBUSY, and after these too
 * unless it throws, so a full disk stops the process and it cannot end.
 *
 * @param onLoss called when everything that waited is written, with the number of lines that were dropped since the last call
 */
export function openLineWriter({ fd, unblock }: Output, onLoss: (lines: number) => void): LineWriter {
  const waiting: string[] = [];
  let waitingLength = 0;
  /** The part of a piece that is not written yet. */
  let rest: Buffer | undefined;
  let lost = 0;
  let reported = 0;
  let isPlanned = false;
  let isBlocked = false;
  /** After the end the number of the file descriptor may be that of another file. */
  let hasEnded = false;
  let pauseMs = FIRST_PAUSE_MS;

  function write(line: string): void {
    if (hasEnded || waitingLength + line.length > MAX_WAITING) {
      lost += 1;
      return;
    }
    waiting.push(line);
    waitingLength += line.length;
    if (isBlocked) return;
    if (waitingLength > TURN_LENGTH) flush();
    else plan();
  }

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      if (!isBlocked && !hasEnded) flush();
    });
  }

  function flush(): void {
    const error = writeWaiting(performance.now() + SLICE_MS);
    if (error) {
      isBlocked = true;
      setTimeout(retry, pauseMs).unref();
      pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs);
    } else if (hasWaiting()) plan();
  }

  function retry(): void {
    if (hasEnded) return;
    isBlocked = false;
    flush();
  }

  /** Returns why nothing can be written. */
  function writeWaiting(deadlineMs: number): NodeJS.ErrnoException | undefined {
    unblock();
    while (hasWaiting()) {
      rest ??= nextPiece();
      try {
        const written = writeSync(fd, rest);
        rest = written < rest.length ? rest.subarray(written) : undefined;
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        // writeSync throws nothing else.
        return error as NodeJS.ErrnoException;
      }
      if (performance.now() > deadlineMs) break;
    }
    if (!hasWaiting() && lost > reported) reportLoss();
    return undefined;
  }

  const hasWaiting = () => rest !== undefined || waiting.length > 0;

  /** Returns as many whole lines as fit, because the lines of several processes must not be mixed. At least one. */
  function nextPiece(): Buffer {
    let bytes = 0;
    const end = waiting.findIndex((line, index) => {
      bytes += Buffer.byteLength(line);
      return index > 0 && bytes > PIECE_BYTES;
    });
    const lines = waiting.splice(0, end < 0 ? waiting.length : end);
    const text = lines.join('');
    waitingLength -= text.length;
    return Buffer.from(text);
  }

  function reportLoss(): void {
    const lines = lost - reported;
    reported = lost;
    onLoss(lines);
  }

  function end(): void {
    hasEnded = true;
    const deadlineMs = performance.now() + END_MS;
    while (hasWaiting()) {
      const error = writeWaiting(deadlineMs);
      // Only a reader can make room before the process has ended.
      if ((error && error.code !== 'EAGAIN') || performance.now() > deadlineMs) return;
      if (error) pause();
    }
  }

  return { write, end, lost: () => lost };
}

/** Waits for 10 ms without the event loop, which has ended. */
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
