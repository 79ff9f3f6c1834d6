import { pino, type DestinationStream } from 'pino';

/** Longer texts are written at once. */
const BUFFER_BYTES = 8 * 1024;

/**
 * Standard output for the log. The lines of one turn of the event loop are written together, because a write for each line took
 * an eighth of a request's CPU time. Only a process that is killed loses lines, those of its last turn.
 */
export const logStream: DestinationStream = openLogStream();

function openLogStream(): DestinationStream {
  const output = pino.destination({ sync: true, minLength: BUFFER_BYTES });
  let isPlanned = false;
  const flush = () => {
    isPlanned = false;
    output.flush();
  };
  // The end of the process and an uncaught error may come before the next turn.
  process.once('exit', () => output.flushSync());
  return {
    write(line) {
      output.write(line);
      if (!isPlanned) setImmediate(flush);
      isPlanned = true;
    },
  };
}
