import type { Handlers } from '../../../generated/handlers.js';
import { operations } from '../../../generated/operations.js';
import { pageBeforeReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import type { DataOf, Operation } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { listCalls } from './list-calls.js';
import type { CallRow } from './queries.js';

const known: Record<string, Operation | undefined> = operations;

export function apiCallHandlers({ keptCalls }: Pick<Deps, 'keptCalls'>) {
  return {
    async listApiCalls({ ctx, query }) {
      const { leftOut, ...page } = await listCalls(ctx, query);
      const { meta, ...rest } = await pageBeforeReply(page, ['call'], viewCall);
      const { days, percent } = keptCalls;
      return { ...rest, meta: { ...meta, kept_days: days, kept_percent: percent, left_out_today: leftOut } };
    },
  } satisfies Partial<Handlers>;
}

function viewCall({ id: _, operationId, refused, ...row }: CallRow): DataOf<'listApiCalls'>[number] {
  const { method = null, path = null } = known[operationId] ?? {};
  return { ...recordOf(row), operation: operationId, method, path, refused: refused ?? [] };
}
