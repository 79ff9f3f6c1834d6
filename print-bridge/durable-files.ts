import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file and waits until it is on the disk. */
export async function writeDurably(path: string, content: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Renames a file at once. A reader sees the whole file or none. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

export async function removeDurably(path: string): Promise<void> {
  await unlink(path);
  await syncFolder(dirname(path));
}

/** Without it, a power failure can undo the rename. */
async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders, and writes their entries at once.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
