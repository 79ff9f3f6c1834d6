import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../../src/config/project-root.js';
import { makeFolder } from '../../../support/service/processes.js';

const read = (name: string) =>
  readFile(join(projectRoot, 'test', 'operations', 'doctor', 'certificates', `${name}.pem`), 'utf8');

/** Writes a chain of these certificates, and returns the settings. The authority has issued the server's certificate. */
export async function certificate(
  chain: ('server' | 'authority')[],
): Promise<{ TLS_CERT_FILE: string; TLS_KEY_FILE: string }> {
  const folder = await makeFolder();
  const [TLS_CERT_FILE, TLS_KEY_FILE] = [join(folder, 'chain.pem'), join(folder, 'key.pem')];
  await writeFile(TLS_CERT_FILE, (await Promise.all(chain.map(read))).join(''));
  await writeFile(TLS_KEY_FILE, await read('server-key'), { mode: 0o600 });
  return { TLS_CERT_FILE, TLS_KEY_FILE };
}
