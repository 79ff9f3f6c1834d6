import type pg from 'pg';
import { PUBLISHED } from '../../config/published.js';
import type { Secrets } from '../../platform/access/secrets.js';
import { analyzeNonEmptyTables } from '../../platform/db/migrations/analyze.js';
import { DEMO } from '../demo/demo.js';

/**
 * Loads the demo data into a database that contains nothing else, for the start of a clone. Says why it did not.
 *
 * @param client connected as the schema's owner, in no transaction
 */
export async function loadDemo(
  client: pg.ClientBase,
  secrets: Secrets,
  log: (line: string) => void,
): Promise<void> {
  const obstacle = await findObstacle(client);
  if (obstacle === 'loaded') return;
  if (obstacle) {
    log(`The demo data were not loaded, because ${obstacle}.`);
    return;
  }
  // Loaded only now, because most starts load no data.
  const { seedDemo } = await import('../demo/seed.js');
  if (!(await seedDemo(client, secrets, new Date()))) return;
  await analyzeNonEmptyTables(client);
  log('Loaded the demo data.');
}

/** Returns why the demo data must not be loaded: `loaded` if they are there. */
async function findObstacle(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{
    is_loaded: boolean;
    tenant: string | null;
    deployment: string | null;
  }>(
    `select exists (select from tenants where id = any($1)) as is_loaded,
       (select min(slug) from tenants) as tenant,
       (select min(name) from installation.deployments where app_env <> 'development') as deployment`,
    [Object.values(PUBLISHED.tenantIds)],
  );
  const [found] = rows;
  if (found?.is_loaded) return 'loaded';
  if (found?.deployment) return `the deployment ${found.deployment} has used this database`;
  return found?.tenant ? `the database contains other tenants, for example ${found.tenant}` : undefined;
}

/** Returns what the terminal shows when the service serves. */
export const welcome = (base: string): string => `
Crossdock is serving ${base}

  Console          ${base}/console
                     warehouse staff: warehouse, manager, admin; couriers: iex, hrb; password: ${DEMO.password}
                     a parcel to receive: ${DEMO.announcedNumber}, without a scanner type it into the field Number
  Documentation    ${base}/docs
  Log in           curl -s ${base}/api/login.php -H 'Content-Type: application/json' \\
                     -d '{"action":"login","username":"admin","password":"${DEMO.password}"}'
  Announce         curl -s ${base}/api/Prealert.php -H "X-API-KEY: $(printf 'a%.0s' $(seq 64))" \\
                     -H 'Content-Type: application/json' -d '{"UserCode":"IEX-1001","TrackingNumber":"HELLO-1"}'

The tour in README.md goes on from here. Ctrl-C stops.`;
