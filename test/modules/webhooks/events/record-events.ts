import { BACKGROUND } from '../../../../src/platform/audit/audit.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import type { Caller } from '../../../../src/platform/identity/callers.js';
import {
  emitPackageEvents,
  type EventType,
  type PackageChange,
} from '../../../../src/modules/webhooks/events/events.js';
import { type Service } from '../../../support/service/service.js';

export const system = (tenantId: string): Caller => ({ kind: 'system', tenantId });

/** Records events in a transaction of their own. */
export async function recordEvents(
  database: Service['db'],
  tenantId: string,
  type: EventType,
  changes: PackageChange[],
): Promise<void> {
  const ctx = makeContext(database, system(tenantId), BACKGROUND);
  await ctx.write((tx) => emitPackageEvents(tx, type, changes));
}
