import pg from 'pg';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../../../generated/prisma/client.js';
import { fillTenant, scopeArguments } from './model-arguments.js';
import type { ModelScope } from './model-scope.js';
import type { Models } from './types.js';

/** What Prisma's adapter passes to a pool: a statement with its values, and how to parse its rows. */
type ModelQuery = Pick<pg.QueryArrayConfig, 'text' | 'rowMode' | 'types'> & { values: unknown[] };

export type ModelResult = Pick<pg.QueryArrayResult, 'fields' | 'rows' | 'rowCount'>;

/** The transaction in which models run. */
export type ModelTransaction = {
  /** False only in the tests that prove row-level security alone. */
  applicationFilters: boolean;
  /** The rows that the caller may touch. An API key's are known once the database has admitted it. */
  scope(): ModelScope | Promise<ModelScope>;
  /** Rejects if the database does not admit the caller. */
  admit(): Promise<void>;
  send(query: ModelQuery): Promise<ModelResult>;
};

/** Prisma's models for one transaction. */
export type ModelLease = { models: Models; end(): void };

/** Prisma's clients. Each is used by one transaction at a time, and its statements run on that transaction's connection. */
export type ModelClients = ReturnType<typeof makeModelClients>;

type Client = {
  prisma: PrismaClient;
  /** Undefined while no transaction uses the client. */
  transaction: ModelTransaction | undefined;
  /** Makes the client free for another transaction, unless calls still run in it. */
  offer(): void;
  /** What a statement of the calls that run now failed with. Prisma would wrap it, or hide it. */
  failure: unknown;
  /** The number of calls that have not ended. */
  running: number;
};

/**
 * Makes clients on first use: one takes 20 ms and some megabytes, so there are as many as transactions have used models at the
 * same time. See decision 0090.
 */
export function makeModelClients() {
  const clients: Client[] = [];
  const free: Client[] = [];

  function add(): Client {
    const client = makeClient((idle) => free.push(idle));
    clients.push(client);
    return client;
  }

  return {
    /** Returns the models for a transaction. It never waits for a free client, because the transaction may hold locks. */
    lease(transaction: ModelTransaction): ModelLease {
      const client = free.pop() ?? add();
      client.transaction = transaction;
      return {
        models: modelsOf(client, transaction),
        end() {
          client.transaction = undefined;
          client.offer();
        },
      };
    },
    /** The number of clients made so far. */
    size: (): number => clients.length,
    async close(): Promise<void> {
      await Promise.all(clients.map(({ prisma }) => prisma.$disconnect()));
    },
  };
}

/** @param onFree called when neither a transaction nor a call uses the client any more */
function makeClient(onFree: (client: Client) => void): Client {
  // The pool opens no connection. Prisma's adapter asks that it is a pool of node-postgres.
  const pool = Object.assign(new pg.Pool(), {
    query: (query: ModelQuery) => send(query),
    connect: () => Promise.reject(new Error('Models run in the transaction of the context, and begin none.')),
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  const client: Client = {
    ...{ prisma, transaction: undefined, failure: undefined, running: 0 },
    offer() {
      // A call that its transaction did not wait for must not run in the next one.
      if (client.running === 0) onFree(client);
    },
  };
  async function send(query: ModelQuery): Promise<ModelResult> {
    try {
      if (!client.transaction) throw hasEnded();
      return await client.transaction.send(query);
    } catch (error) {
      client.failure ??= error;
      throw error;
    }
  }
  return client;
}

/** Adds the caller's filters to every call of a model, and lets the errors of PostgreSQL and of the admission through. */
function modelsOf(client: Client, transaction: ModelTransaction): Models {
  const assertOpen = () => {
    if (client.transaction !== transaction) throw hasEnded();
  };
  const extended = client.prisma.$extends({
    query: {
      $allModels: {
        async $allOperations({ model, operation, args, query }) {
          assertOpen();
          if (client.running === 0) client.failure = undefined;
          client.running += 1;
          try {
            const scopeOrFill = transaction.applicationFilters ? scopeArguments : fillTenant;
            return await query(scopeOrFill(model, operation, args, await transaction.scope()));
          } catch (error) {
            // Of a forged token, arguments may be refused before a statement was sent.
            if (client.failure === undefined) await transaction.admit();
            throw client.failure ?? error;
          } finally {
            client.running -= 1;
            if (!client.transaction) client.offer();
          }
        },
      },
    },
  });
  // A query extension changes arguments, not types.
  return extended as unknown as Models;
}

const hasEnded = () => new Error('The transaction of these models has ended.');
