import type { Prisma } from '../../../../generated/prisma/client.js';

/** The rows of Prisma's models, from which modules derive the row types of their statements. */
export type * from '../../../../generated/prisma/client.js';

/** Prisma's models, with the caller's filters. */
export type Models = Pick<Prisma.TransactionClient, Uncapitalize<Prisma.ModelName>>;

/** A model's row as SQL returns it: each decimal is text, so that no amount or weight becomes a float. */
export type DecimalText<Row> = {
  [Name in keyof Row]: Row[Name] extends Prisma.Decimal
    ? string
    : Row[Name] extends Prisma.Decimal | null
      ? string | null
      : Row[Name];
};

/** Fields of a model under the names of their columns, for rows that the audit trail records as they are. */
export type ColumnsOf<Fields> = { [Name in keyof Fields & string as SnakeCase<Name>]: Fields[Name] };

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;
