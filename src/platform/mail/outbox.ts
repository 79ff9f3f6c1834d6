import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Message } from './mime.js';
import type { SendResult } from './send-result.js';

/**
 * Writes a message to the outbox folder, as a file that only this account can read. The file gets its final name after it is
 * complete. Never throws: returns `failed` with the error's code.
 */
export async function writeToOutbox(
  folder: string,
  { id, date }: Pick<Message, 'id' | 'date'>,
  bytes: Buffer,
): Promise<SendResult> {
  const file = join(folder, `${date.toISOString().replaceAll(/[:.]/g, '-')}-${id}.eml`);
  const unfinished = join(folder, `.${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, bytes, { mode: 0o600, flag: 'wx', flush: true });
    await rename(unfinished, file);
    return { outcome: 'sent', reference: file };
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    // Errors of the file system have a code.
    return {
      outcome: 'failed',
      reason: `${(error as NodeJS.ErrnoException).code ?? 'unknown'} in the outbox`,
    };
  }
}
