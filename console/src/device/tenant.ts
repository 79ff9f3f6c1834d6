import type { CrossdockClient, TenantSettings } from '../../../sdk/typescript/src/index.js';
import { change } from './settings.js';

/** Reads the time zone and the currency of the tenant. Without a connection, those that the service said last stay. */
export async function readTenant(client: CrossdockClient): Promise<void> {
  const answer = await client.warehouses.tenantSettings().catch(() => undefined);
  if (answer) rememberTenant(answer.data);
}

/** Shows times in the time zone of the tenant, or in UTC, and says so, if this browser does not know it. */
export function rememberTenant({ time_zone: timeZone, currency }: TenantSettings): void {
  change({ timeZone: isZone(timeZone) ? timeZone : 'UTC', currency });
}

function isZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}
