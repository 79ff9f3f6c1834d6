import { courierField, fieldsOf, filterOf, tenantField, type ModelScope } from './model-scope.js';

type Fields = Record<string, unknown>;

const READS = new Set([
  'findUnique',
  'findUniqueOrThrow',
  'findFirst',
  'findFirstOrThrow',
  'findMany',
  'count',
  'aggregate',
  'groupBy',
]);
const CREATES = new Set(['create', 'createMany', 'createManyAndReturn']);
const CHANGES = new Set(['update', 'updateMany', 'updateManyAndReturn', 'delete', 'deleteMany', 'upsert']);

/**
 * Arguments that cannot name another table. `cursor` is not listed, because it finds a row without the filter.
 */
const PLAIN = new Set([
  'take',
  'skip',
  'limit',
  'by',
  'skipDuplicates',
  '_count',
  '_sum',
  '_avg',
  '_min',
  '_max',
  'where',
  'having',
  'orderBy',
  'select',
  'omit',
  'distinct',
  'data',
  'create',
  'update',
]);

/** Returns the arguments of a model call with the scope's filter added. A created row gets the scope's tenant. */
export function scopeArguments(model: string, operation: string, sent: unknown, scope: ModelScope): Fields {
  const args = toFields(sent);
  assertOneTable(model, args);
  const filter = filterOf(model, scope, READS.has(operation));
  if (CREATES.has(operation)) return { ...args, data: scopeRows(model, args['data'], scope) };
  if (!READS.has(operation) && !CHANGES.has(operation))
    throw new Error(`The operation ${operation} has no scope.`);
  assertKeepsOwner(model, args['data'], scope);
  assertKeepsOwner(model, args['update'], scope);
  const where = toFields(args['where']);
  const scoped: Fields = { ...args, where: { ...where, AND: [...toList(where['AND']), filter] } };
  if (operation === 'upsert') scoped['create'] = scopeRows(model, args['create'], scope);
  return scoped;
}

/** Adds the tenant to new rows. Without filters, row-level security alone checks the arguments. */
export function fillTenant(model: string, operation: string, sent: unknown, scope: ModelScope): Fields {
  const args = toFields(sent);
  const fill = (row: unknown) => ({ [tenantField(model)]: scope.tenantId, ...toFields(row) });
  const fillAll = (rows: unknown) => (Array.isArray(rows) ? rows.map(fill) : fill(rows));
  if (CREATES.has(operation)) return { ...args, data: fillAll(args['data']) };
  if (operation === 'upsert') return { ...args, create: fill(args['create']) };
  return args;
}

function scopeRows(model: string, data: unknown, scope: ModelScope): unknown {
  const scopeRow = (row: unknown): Fields => {
    assertKeepsOwner(model, row, scope);
    const filled = { ...toFields(row), [tenantField(model)]: scope.tenantId };
    const field = courierField(model);
    return field && scope.courierId !== null ? { ...filled, [field]: scope.courierId } : filled;
  };
  return Array.isArray(data) ? data.map(scopeRow) : scopeRow(data);
}

/** @throws Error if a row is given to another tenant or courier */
function assertKeepsOwner(model: string, data: unknown, scope: ModelScope): void {
  const fields = toFields(data);
  const assertOwn = (name: string | undefined, own: string | null) => {
    const sent = name === undefined ? undefined : fields[name];
    const value = toFields(sent)['set'] ?? sent;
    if (own === null || value === undefined || value === own) return;
    throw new Error(`${model}.${name} is not the caller's.`);
  };
  assertOwn(tenantField(model), scope.tenantId);
  assertOwn(courierField(model), scope.courierId);
}

/** @throws Error if the arguments use another table, because the filter applies to one table */
function assertOneTable(model: string, args: Fields): void {
  for (const name of Object.keys(args))
    if (!PLAIN.has(name)) throw new Error(`Models do not take "${name}" here. Write SQL.`);
  const names = fieldsOf(model);
  for (const part of ['where', 'having'] as const) assertCondition(model, names, args[part]);
  for (const part of ['data', 'create', 'update', 'select', 'omit', 'orderBy'] as const)
    for (const fields of toList(args[part])) assertFields(model, names, Object.keys(toFields(fields)));
}

function assertCondition(model: string, names: Set<string>, condition: unknown): void {
  for (const [name, value] of Object.entries(toFields(condition))) {
    if (name === 'AND' || name === 'OR' || name === 'NOT')
      for (const part of toList(value)) assertCondition(model, names, part);
    // A composite key, for example tenantId_id.
    else assertFields(model, names, names.has(name) ? [] : name.split('_'));
  }
}

function assertFields(model: string, names: Set<string>, used: string[]): void {
  const other = used.find((name) => !names.has(name) && !AGGREGATES.has(name));
  if (other !== undefined) throw new Error(`Models do not follow ${model}.${other}. Write SQL.`);
}

/** Aggregates of the model's own rows. */
const AGGREGATES = new Set(['_all', '_sum', '_avg', '_min', '_max']);

const toList = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? (value as unknown[]) : [value];

/** Prisma's types have checked that each argument is an object. */
const toFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
