import {
  resolve,
  type Contract,
  type Operation,
  type Schema,
} from '../../../scripts/contract-diff/contract.js';

type Fields = Record<string, Schema>;

/** Finds the places of a contract that a test edits, wherever the contract keeps them. */
export function openEditor(contract: Contract) {
  const operation = (call: string, items = contract.paths): Operation => {
    const [method = '', path = ''] = call.split(' ');
    const found = items[path]?.[method.toLowerCase()];
    if (!found) throw new Error(`The contract has no ${call}.`);
    // OpenAPI defines this shape.
    return found as Operation;
  };

  /** Returns the object with `properties` that declares the last field of the path. */
  const ownerOf = (schema: Schema, path: string): Schema & { properties: Fields; required?: string[] } => {
    const [name = '', ...rest] = path.split('.');
    const owner = partsOf(schema).find((part) => name in ((part['properties'] ?? {}) as Fields));
    if (!owner) throw new Error(`No schema has the field ${name}.`);
    const typed = owner as Schema & { properties: Fields };
    const field = typed.properties[name] ?? {};
    return rest.length === 0 ? typed : ownerOf(itemsOf(field), rest.join('.'));
  };

  const itemsOf = (schema: Schema): Schema =>
    (resolve(contract, schema)['items'] as Schema | undefined) ?? schema;

  /** Returns the schema and all its parts and branches. */
  const partsOf = (schema: Schema): Schema[] => {
    const target = resolve(contract, schema);
    const parts = [target['allOf'], target['oneOf']].flatMap((list) => (list ?? []) as Schema[]);
    return [target, ...parts.flatMap(partsOf)];
  };

  const response = (call: string, status: string) => {
    const answer = operation(call).responses[status];
    if (!answer) throw new Error(`${call} has no response ${status}.`);
    return resolve(contract, answer);
  };

  const bodyOf = (content: Operation['requestBody']): Schema =>
    content?.content['application/json']?.schema ?? {};

  return {
    operation,
    response,
    parameter: (call: string, wanted: string) =>
      (operation(call).parameters ?? [])
        .map((each) => resolve(contract, each))
        .find(({ name }) => name === wanted),
    body: (call: string) => resolve(contract, bodyOf(operation(call).requestBody)),
    input: (call: string, path: string) => ownerOf(bodyOf(operation(call).requestBody), path),
    output: (call: string, status: string, path: string) =>
      ownerOf(response(call, status).content?.['application/json']?.schema ?? {}, path),
    webhook: (name: string) => operation(`POST ${name}`, contract.webhooks),
    webhookField: (name: string, path: string) =>
      ownerOf(bodyOf(operation(`POST ${name}`, contract.webhooks).requestBody), path),
    resolve: (schema: Schema) => resolve(contract, schema),
  };
}

export type Editor = ReturnType<typeof openEditor>;
