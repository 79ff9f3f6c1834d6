import type { Handlers } from '../../../generated/handlers.js';
import { reconcile } from './reconciliation/reconciliation.js';
import { viewReconciliation } from './reconciliation/view.js';
import { readStatement } from './statement/statement.js';
import { viewStatement } from './statement/view.js';

export function billingAccountHandlers() {
  return {
    getCourierStatement: async ({ ctx, query }) => viewStatement(await readStatement(ctx, query)),
    getBillingReconciliation: async ({ ctx, query }) => viewReconciliation(await reconcile(ctx, query)),
  } satisfies Pick<Handlers, 'getCourierStatement' | 'getBillingReconciliation'>;
}
