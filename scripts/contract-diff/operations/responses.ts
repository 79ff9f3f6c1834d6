import { resolve, type Contract, type Header, type Response } from '../contract.js';
import { breaks, enter, extendsContract, type Position } from '../findings.js';
import { compareMediaTypes } from './requests.js';
import { compareSchemas } from '../schemas/compare-schemas.js';

type Responses = Record<string, Response>;

/** Compares what an operation can answer: statuses, error codes, headers, media types and bodies. */
export function compareResponses(at: Position, before: Responses, after: Responses): void {
  for (const [status, response] of Object.entries(before)) {
    const here = enter(at, `response ${status}`, status);
    const now = after[status];
    if (now) compareResponse(here, resolve(at.before, response), resolve(at.after, now));
    else breaks(here, 'The status was removed. Integrators that handle it never get it.');
  }
  for (const status of Object.keys(after).filter((each) => !(each in before)))
    extendsContract(enter(at, `response ${status}`, status), 'The status is new.');
}

function compareResponse(at: Position, before: Response, after: Response): void {
  const [old, current] = [codesOf(at.before, before), codesOf(at.after, after)];
  for (const code of old)
    if (!current.has(code))
      breaks(at, `The code ${code} was removed. Integrators that handle it never get it.`, { names: [code] });
  for (const code of current)
    if (!old.has(code)) extendsContract(at, `The code ${code} is new.`, { names: [code] });
  compareHeaders(at, before.headers, after.headers);
  compareMediaTypes(at, before.content, after.content);
}

/** Returns the codes of a failure. Each has an example. */
function codesOf(contract: Contract, { content = {} }: Response): Set<string> {
  const values = Object.values(content).flatMap(({ example, examples = {} }) => [
    example,
    ...Object.values(examples).map((each) => resolve(contract, each).value),
  ]);
  return new Set(
    values
      .map((value) => (value as { status?: unknown; code?: unknown } | undefined) ?? {})
      .filter(({ status }) => status === 'fail' || status === 'error')
      .flatMap(({ code }) => (typeof code === 'string' ? [code] : [])),
  );
}

type Headers = Record<string, Header>;

function compareHeaders(at: Position, before: Headers = {}, after: Headers = {}): void {
  const [old, current] = [byName(before), byName(after)];
  for (const [key, [name, header]] of old) {
    const here = enterHeader(at, name);
    const now = current.get(key)?.[1];
    if (now) compareHeader(here, resolve(at.before, header), resolve(at.after, now));
    else breaks(here, 'The header was removed. Integrators that read it fail.');
  }
  for (const [key, [name]] of current)
    if (!old.has(key)) extendsContract(enterHeader(at, name), 'The header is new.');
}

const enterHeader = (at: Position, name: string): Position => ({
  ...enter(at, `${at.place}, header ${name}`, name),
  anchor: `header ${name}`,
});

// Names of headers are case-insensitive.
const byName = (headers: Headers) =>
  new Map(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), [name, header] as const]));

function compareHeader(at: Position, before: Header, after: Header): void {
  if (before.required && !after.required) breaks(at, 'The header is optional now.');
  if (!before.required && after.required) extendsContract(at, 'The header is always present now.');
  compareSchemas(at, before.schema, after.schema);
}
