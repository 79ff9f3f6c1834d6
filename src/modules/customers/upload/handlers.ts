import type { Handlers } from '../../../../generated/handlers.js';
import type { DataOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { quotaOf } from '../../../platform/limits/stored/quotas.js';
import { uploadCustomers } from './upload.js';

export function customerUploadHandlers({ customerChangesPerDay, bulk }: Deps) {
  const deps = { bulk, quota: quotaOf('customer_changes', customerChangesPerDay) };
  return {
    async uploadCustomers({ ctx, body }) {
      const data = await uploadCustomers(ctx, deps, body);
      return { statusCode: 200, message: describe(data), data };
    },
  } satisfies Partial<Handlers>;
}

function describe({ processed, created, updated, unchanged, dry_run }: DataOf<'uploadCustomers'>): string {
  const counts = `Customers created: ${created}, updated: ${updated}, unchanged: ${unchanged}.`;
  return `${dry_run ? 'Nothing was stored. ' : ''}Rows processed: ${processed}. ${counts}`;
}
