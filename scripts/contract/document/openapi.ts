/** The parts of an OpenAPI 3.1 document that the generator reads and writes. A node with `$ref` has no other part. */
export type Contract = {
  info: { title: string; version: string; summary: string; description: string };
  servers: Server[];
  tags: { name: string; description: string }[];
  security?: Requirement[];
  paths: Record<string, PathItem>;
  webhooks?: Record<string, PathItem>;
  components: Components;
  'x-quotas'?: unknown;
};

type Server = { url: string; description?: string; variables?: Record<string, { default: string }> };
export type Requirement = Record<string, string[]>;
/** The contract states nothing but operations under a path. */
export type PathItem = Record<string, Operation>;

export type Components = {
  schemas: Record<string, Schema>;
  parameters?: Record<string, Parameter>;
  headers?: Record<string, Header>;
  responses: Record<string, Response>;
  examples: Record<string, Example>;
  securitySchemes?: unknown;
};

export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Requirement[];
  parameters?: Parameter[];
  requestBody?: RequestBody;
  responses: Record<string, Response>;
  'x-same-operation'?: string;
  'x-permission'?: string;
  /** A service token needs one of them. Without any, the operation takes no service token. */
  'x-scopes'?: string[];
  'x-errors'?: ListedError[];
  'x-errors-exempt'?: string[];
  'x-idempotency-exempt'?: string;
  'x-bounds'?: unknown;
  /** Its responses are pages for people. */
  'x-page'?: boolean;
};

/** A code, or a code with its variant, its `errors`, or its arguments. */
export type ListedError = string | Record<string, GivenError>;
export type GivenError =
  | string
  | NamedProblem[]
  | ({ variant?: string; errors?: NamedProblem[] } & Record<string, unknown>);
/** A problem of one field, with the arguments of its message. */
export type NamedProblem = { field: string; problem: string; row?: number } & Record<string, unknown>;

export type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  deprecated?: boolean;
  schema: Schema;
  example?: unknown;
};
export type Header = { $ref?: string; description?: string; schema?: Schema };
export type RequestBody = {
  $ref?: string;
  required?: boolean;
  content: Content;
  'x-max-body-bytes'?: number;
  'x-raw-body'?: boolean;
};
export type Response = {
  $ref?: string;
  description?: string;
  headers?: Record<string, Header>;
  content?: Content;
};

export type Content = Record<string, Media>;
export type Media = {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, Example>;
  encoding?: Record<string, { contentType?: string }>;
  'x-each-item'?: string;
  'x-max-lines'?: number;
  'x-max-line-bytes'?: number;
  'x-max-body-bytes'?: number;
};
export type Example = { $ref?: string; summary?: string; value?: unknown };

export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  deprecated?: boolean;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
  maxLength?: number;
  maxItems?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  multipleOf?: number;
  'x-extensible-enum'?: unknown[];
  'x-secret'?: boolean;
  /** The fields of requests in which a caller names this form of a response. Nobody else gets it. */
  'x-chosen-with'?: string[];
  'x-each-item'?: boolean;
};

export type Located = { path: string; method: string; operation: Operation };

/** The order in which OpenAPI lists the methods of a path. */
export const METHODS = ['get', 'put', 'post', 'delete'];
/** The order in which documentation lists them. */
export const DOCUMENTED_METHODS = ['get', 'post', 'put', 'delete'];

/** Returns the operations under these paths, or the requests of these webhooks: those of a path in the order of `methods`, or of the contract. */
export const operationsOf = (items: Record<string, PathItem> = {}, methods?: string[]): Located[] =>
  Object.entries(items).flatMap(([path, item]) =>
    (methods ?? Object.keys(item)).flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );

/** Returns the target of a reference, or the node itself if it is none. */
export function resolve<Node extends { $ref?: string }>(contract: Contract, node: Node): Node {
  if (node.$ref === undefined) return node;
  const keys = node.$ref.split('/').slice(1);
  const target = keys.reduce<unknown>(
    // The part of an object under the key. What is no object has none.
    (parent, key) => (parent as Record<string, unknown> | undefined)?.[unescaped(key)],
    contract,
  );
  if (typeof target !== 'object' || target === null) throw new Error(`${node.$ref} does not exist.`);
  // A reference stands for an object of the same kind.
  return resolve(contract, target as Node);
}

/** JSON pointers escape two characters. */
const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns a reference to a component. */
export const refTo = (kind: keyof Components, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Returns the component's name of a reference. */
export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

const JSON_TYPE = 'application/json';

/** Returns the JSON of a body or of a response. */
export const jsonOf = ({ content = {} }: { content?: Content }): Media | undefined => content[JSON_TYPE];

export const isSuccess = (status: string) => status.startsWith('2');

/** Returns the credential that a caller sends: a token, an API key, or none. */
export function credentialOf(security: Requirement[] = []): 'token' | 'key' | 'none' {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  // A service token can replace an API key.
  if (schemes.some((scheme) => scheme.startsWith('apiKey'))) return 'key';
  return schemes.length > 0 ? 'token' : 'none';
}

/** Returns the parameters with their references resolved. */
export const parametersOf = (contract: Contract, { parameters = [] }: Operation): Parameter[] =>
  parameters.map((parameter) => resolve(contract, parameter));

export const takesIdempotencyKey = (contract: Contract, operation: Operation): boolean =>
  parametersOf(contract, operation).some(
    ({ in: place, name }) => place === 'header' && name === 'Idempotency-Key',
  );
