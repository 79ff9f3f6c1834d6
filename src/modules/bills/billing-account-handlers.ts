import type { Handlers } from '../../../generated/handlers.js';
import { reconcile } from './reconciliation/reconciliation.js';
import { viewReconciliation } from './reconciliation/view.js';
import { readStatement } from './statement/statement.js';
import { viewStatement } from './statement/view.js';

export function billingAccountHandlers() {
  return {
    courierStatement: async ({ ctx, query }) => viewStatement(await readStatement(ctx, query)),
    billingReconciliation: async ({ ctx, query }) => viewReconciliation(await reconcile(ctx, query)),
  } satisfies Pick<Handlers, 'courierStatement' | 'billingReconciliation'>;
}
