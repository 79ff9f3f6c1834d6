import type { PrismaClient } from '../../../../generated/prisma/client.js';
import { fillTenant, scopeArguments } from './model-arguments.js';
import type { ModelScope } from './model-scope.js';

type Filtered = { prisma: PrismaClient; applicationFilters: boolean };

/** Creating a client takes ten times as long as finding one in the cache; see decision 0036. */
const MAX_CLIENTS = 1_000;

const clients = new WeakMap<PrismaClient, Map<string, PrismaClient>>();

/** Returns Prisma's client with the filters of a scope on every call of a model. It is cached for the next transaction. */
export function scopedClient(db: Filtered, scope: ModelScope): PrismaClient {
  const known = clients.get(db.prisma) ?? new Map<string, PrismaClient>();
  clients.set(db.prisma, known);
  const name = `${scope.tenantId} ${scope.courierId ?? ''}`;
  const client = known.get(name) ?? extend(db, () => scope);
  if (known.size >= MAX_CLIENTS) known.clear();
  known.set(name, client);
  return client;
}

/** The same for a scope that is known only once the transaction has begun. */
export function extend(db: Filtered, scopeOf: () => ModelScope): PrismaClient {
  const extended = db.prisma.$extends({
    query: {
      $allModels: {
        $allOperations({ model, operation, args, query }) {
          const scoped = db.applicationFilters ? scopeArguments : fillTenant;
          return query(scoped(model, operation, args, scopeOf()));
        },
      },
    },
  });
  // A query extension changes arguments, not types.
  return extended as unknown as PrismaClient;
}
