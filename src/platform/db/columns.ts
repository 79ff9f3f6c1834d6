import type { Prisma } from '../../../generated/prisma/client.js';
import { ApiError } from '../errors/errors.js';
import { ownRows, tenantRows } from './filters.js';
import { courierField, fieldsOf } from './models/model-scope.js';
import type { DecimalText } from './models/types.js';
import { raw, sql, type Sql } from './statements.js';
import type { UserTx } from './scope.js';

type Model = Prisma.ModelName;
type Fields<Name extends Model> = DecimalText<Prisma.TypeMap['model'][Name]['payload']['scalars']>;
type FieldName<Name extends Model> = keyof Fields<Name> & string;

/**
 * A list of columns of a model's table, named like the model's fields, and the type of its rows. RowOf gives that type. Lists are made
 * when a module is loaded, because texts of statements are fixed. See decision 0095.
 *
 * @param alias the table's name in the statement
 * @param fields names of fields, or an object whose keys are the names in the row
 */
export function columns<Name extends Model, Field extends FieldName<Name>>(
  model: Name,
  alias: string,
  fields: readonly Field[],
): Sql<Pick<Fields<Name>, Field>>;
export function columns<Name extends Model, const Names extends Record<string, FieldName<Name>>>(
  model: Name,
  alias: string,
  fields: Names,
): Sql<{ -readonly [As in keyof Names]: Fields<Name>[Names[As]] }>;
export function columns(
  model: Model,
  alias: string,
  fields: readonly string[] | Record<string, string>,
): Sql {
  const named: [string, string][] = isList(fields)
    ? fields.map((field) => [field, field])
    : Object.entries(fields);
  return raw(named.map(([name, field]) => columnAs(model, alias, field, name)).join(', '));
}

const isList = (fields: readonly string[] | Record<string, string>): fields is readonly string[] =>
  Array.isArray(fields);

function columnAs(model: Model, alias: string, field: string, name: string): string {
  if (!fieldsOf(model).has(field)) throw new Error(`${model} has no field ${field}.`);
  const column = columnOf(field);
  return column === name ? `${alias}.${column}` : `${alias}.${column} as "${name}"`;
}

/** The column of a field. schema.prisma maps all fields in this way; a test compares them. */
export const columnOf = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The tables that `lock` reads, and the error if a row is missing. */
const LOCKED = {
  Carrier: ['carriers', 'carrier_not_found'],
  Courier: ['couriers', 'courier_not_found'],
  Customer: ['customers', 'customer_not_found'],
  Warehouse: ['warehouses', 'warehouse_not_found'],
} as const;

/**
 * Reads fields of the row with this id, and locks it until the transaction ends. Read other tables with a later statement: one that
 * waits for the lock sees them as they were before the wait.
 *
 * @param strength `no key update` lets other transactions insert rows that refer to this one
 * @throws ApiError if the caller has no such row
 */
export async function lock<Name extends keyof typeof LOCKED, Field extends FieldName<Name>>(
  tx: UserTx,
  model: Name,
  id: string,
  fields: readonly Field[],
  strength: 'update' | 'no key update' = 'update',
): Promise<Pick<Fields<Name>, Field>> {
  const [table, missing] = LOCKED[model];
  const rows = courierField(model) === 'courierId' ? ownRows(tx, 'r') : tenantRows(tx, 'r');
  const [row] = await tx.query(
    sql<Pick<Fields<Name>, Field>>`select ${columns(model, 'r', fields)} from ${raw(table)} r
      where ${rows} and r.id = ${id}::uuid for ${raw(strength)}`,
  );
  if (!row) throw new ApiError(missing);
  return row;
}
