import type { Config } from '../../../config/config.js';
import { BACKGROUND } from '../../../platform/audit/audit.js';
import { inEachTenant } from '../../../platform/context/each-tenant.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import { APP_ROLE, describeExcessPrivileges } from '../../../platform/db/connections/roles.js';
import { openDb } from '../../../platform/db/open-database.js';

/** Calls `inspect` in the scope of each tenant, with the rights of the service. Returns the results. */
export async function forEachTenant<Result>(
  { config, url }: { config: Config; url: string },
  inspect: (ctx: SystemContext) => Promise<Result>,
): Promise<Result[]> {
  const isPrivileged = (await describeExcessPrivileges(url)) !== undefined;
  const db = openDb({
    url,
    size: 1,
    onError: () => undefined,
    acceptsReadOnly: true,
    isBehindPooler: config.databasePooler !== undefined,
    ...(isPrivileged && !config.databasePooler ? { assumeRole: APP_ROLE } : {}),
  });
  try {
    return await inEachTenant(db, BACKGROUND, inspect);
  } finally {
    await db.close();
  }
}
