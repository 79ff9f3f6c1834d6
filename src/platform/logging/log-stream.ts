import cluster from 'node:cluster';
import { pino, type DestinationStream } from 'pino';

/** Longer texts are written at once. */
const BUFFER_BYTES = 8 * 1024;

/** What Linux writes to a pipe as one piece (PIPE_BUF). The processes of a server share the pipe. */
const PIECE_BYTES = 4 * 1024;

/**
 * Standard output for the log. The lines of one turn of the event loop are written together, because a write for each line took
 * an eighth of a request's CPU time. Only a process that is killed loses lines, those of its last turn.
 */
export const logStream: DestinationStream = openLogStream();

function openLogStream(): DestinationStream {
  const output = pino.destination({ sync: true, minLength: BUFFER_BYTES });
  let isPlanned = false;
  let bytes = 0;
  const flush = () => {
    isPlanned = false;
    bytes = 0;
    output.flush();
  };
  /** Otherwise the lines of two processes could be mixed in a pipe whose reader is slow. */
  const writeOwnPiece = (line: string) => {
    const lineBytes = Buffer.byteLength(line);
    if (bytes > 0 && bytes + lineBytes > PIECE_BYTES) {
      output.flushSync();
      bytes = 0;
    }
    bytes += lineBytes;
    output.write(line);
  };
  const write = cluster.isWorker ? writeOwnPiece : (line: string) => output.write(line);
  // The end of the process and an uncaught error may come before the next turn.
  process.once('exit', () => output.flushSync());
  return {
    write(line) {
      write(line);
      if (!isPlanned) setImmediate(flush);
      isPlanned = true;
    },
  };
}
