/**
 * Lets a command end as usual when nobody reads its output any more, as with `| head -1`. It goes on, because it may be in the middle of a
 * change.
 */
export function allowClosedOutput(): void {
  for (const output of [process.stdout, process.stderr])
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    });
}
