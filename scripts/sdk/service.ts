import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config/config.js';
import { seedDemo } from '../../src/development/demo/seed.js';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { createServiceLogin, withClient } from '../../src/platform/db/connections/roles.js';
import { migrate } from '../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../src/platform/db/migrations/migration-files.js';
import { openScratchServer } from '../measure/rig/scratch.js';
import { startBenchService } from '../measure/rig/service.js';

/** Starts the built service on a free port, with the demo data in a temporary database, and stops it after `work`. */
export async function withService(work: (url: string) => Promise<void>): Promise<void> {
  const config = readConfig();
  const server = await openScratchServer(config);
  try {
    await migrate(server.url, MIGRATIONS);
    await withClient(server.url, (client) => seedDemo(client, openSecrets(config.secrets), new Date()));
    const servingUrl = await createServiceLogin(server.url, randomBytes(24).toString('base64url'));
    const service = await startBenchService(servingUrl, server.url);
    try {
      await work(`http://127.0.0.1:${service.port}`);
    } finally {
      await service.stop();
    }
  } finally {
    await server.stop();
  }
}
