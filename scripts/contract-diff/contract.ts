/** The parts of an OpenAPI 3.1 document that the comparison reads. */
export type Schema = { [keyword: string]: unknown };
export type Parameter = Schema & { name: string; in: string; required?: boolean; schema?: Schema };
export type Header = { required?: boolean; schema?: Schema };
export type Media = {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
  encoding?: Record<string, { contentType?: string }>;
};
export type RequestBody = {
  required?: boolean;
  content: Record<string, Media>;
  'x-max-body-bytes'?: number;
};
export type Response = { headers?: Record<string, Header>; content?: Record<string, Media> };
export type Requirement = Record<string, string[]>;
export type Operation = {
  operationId: string;
  tags?: string[];
  deprecated?: boolean;
  security?: Requirement[];
  'x-permission'?: string;
  'x-scopes'?: string[];
  parameters?: Parameter[];
  requestBody?: RequestBody;
  responses: Record<string, Response>;
};
export type PathItem = { parameters?: Parameter[] } & Record<string, unknown>;
export type Contract = {
  info: { version: string };
  servers?: { url: string }[];
  security?: Requirement[];
  paths: Record<string, PathItem>;
  webhooks?: Record<string, PathItem>;
  components: { schemas: Record<string, Schema>; securitySchemes?: Record<string, Schema> };
};

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const SCHEMAS = '#/components/schemas/';

/** Returns every operation by its method and path, for example `POST /api/login.php`. */
export function operationsOf(items: Record<string, PathItem> = {}): Map<string, Operation> {
  const entries = Object.entries(items).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method): [string, Operation] => {
      // OpenAPI defines this shape of a path item's methods.
      const operation = item[method] as Operation;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [`${method.toUpperCase()} ${path}`, { ...operation, parameters }];
    }),
  );
  return new Map(entries);
}

/** Returns the target of a reference, or the object itself if it is none. */
export function resolve<T extends object>(contract: Contract, node: T): T {
  const { $ref: reference } = node as { $ref?: unknown };
  if (typeof reference !== 'string') return node;
  const keys = reference
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const target = keys.reduce<unknown>((parent, key) => (parent as Schema | undefined)?.[key], contract);
  if (typeof target !== 'object' || target === null) throw new Error(`${reference} does not exist.`);
  // A reference stands in place of an object of the same kind.
  return resolve(contract, target as T);
}

/** Returns the name of the component that a schema refers to. */
export function componentName({ $ref: reference }: Schema): string | undefined {
  if (typeof reference !== 'string' || !reference.startsWith(SCHEMAS)) return undefined;
  return reference.slice(SCHEMAS.length);
}

/** Returns a value as JSON with sorted keys, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Returns whether two values are equal as JSON, whatever the order of their keys. */
export const isEqual = (left: unknown, right: unknown): boolean =>
  left === right || canonical(left) === canonical(right);
