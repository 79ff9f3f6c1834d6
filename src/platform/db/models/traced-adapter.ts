import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlQuery, Transaction } from '@prisma/driver-adapter-utils';
import type { Span } from '../../tracing/span.js';
import { traceStatements } from '../../tracing/trace-statements.js';

/** The spans of open transactions with models, by their traceparent. */
export type ModelSpans = Map<string, Span>;

/**
 * Prisma's adapter with a span per statement. Prisma does not tell its adapter who began a transaction, so the first statement
 * of a traced one carries the traceparent of its span as a value (enterModels).
 */
export class TracedPrismaPg extends PrismaPg {
  constructor(
    pool: ConstructorParameters<typeof PrismaPg>[0],
    private readonly spans: ModelSpans,
  ) {
    super(pool);
  }

  override async connect() {
    const adapter = await super.connect();
    const begin = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => traceTransaction(await begin(isolation), this.spans);
    return adapter;
  }
}

function traceTransaction(tx: Transaction, spans: ModelSpans): Transaction {
  const [queryRaw, executeRaw] = [tx.queryRaw.bind(tx), tx.executeRaw.bind(tx)];
  let parent: { span: Span | undefined } | undefined;
  const parentOf = (query: SqlQuery) => (parent ??= { span: findSpan(query, spans) }).span;
  tx.queryRaw = (query) => traceStatements(parentOf(query), [{ text: query.sql }], () => queryRaw(query));
  tx.executeRaw = (query) => traceStatements(parentOf(query), [{ text: query.sql }], () => executeRaw(query));
  return tx;
}

function findSpan({ args }: SqlQuery, spans: ModelSpans): Span | undefined {
  const named = args.find((value) => typeof value === 'string' && spans.has(value));
  return typeof named === 'string' ? spans.get(named) : undefined;
}
