import { open } from 'node:fs/promises';

/**
 * Writes a file that only its owner may read and write (mode 0600), also if it exists with another mode. For data of tenants and for secrets.
 *
 * @throws Error of the file system, for example EPERM if the file belongs to another account
 */
export async function writePrivately(path: string, content: string | Buffer): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    // The mode above is only that of a new file.
    await file.chmod(0o600);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}
