// Which facts the contract declares, and which of them a run of the tests has seen: operations, statuses, media types of requests
// and responses, actions, error codes and error messages.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { matchFailure } from '../failures/failure-templates.mjs';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');

// Failures of the service, which no test can cause at will for every operation.
const NOT_ASKED_FOR = new Set(['500', '503']);

// These codes are declared once for the whole contract, in the section 'Authentication' of its description.
const STATED_ONCE = /^\S+ 403 (?:password_change_required|two_factor_required)$/;

/**
 * Compares the facts that the files in coverage/contract have with those of the contract.
 *
 * @returns how many facts were asked for and seen, and one line for each fact that was not seen or not declared
 */
export function compareFacts() {
  const declared = declaredFacts();
  const seen = seenFacts();
  const asked = [...declared].filter(
    (fact) => !NOT_ASKED_FOR.has(/^\S+ (?:says )?(\d{3})\b/.exec(fact)?.[1]),
  );
  const unseen = asked.filter((fact) => !seen.has(fact));
  // Only responses are checked here: undeclared media types and actions of requests are rejected or ignored.
  const undeclared = [...seen].filter(
    (fact) => /^\S+ \d{3}\b/.test(fact) && !declared.has(fact) && !STATED_ONCE.test(fact),
  );
  const faults = [
    ...unseen.map((fact) => `Declared but never seen: ${fact}`),
    ...undeclared.map((fact) => `Seen but not declared: ${fact}`),
  ];
  return { asked: asked.length, seen: asked.length - unseen.length, faults };
}

/** Returns the facts of the contract, one line per fact, in the same format as observations.ts. */
function declaredFacts() {
  const bundle = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8'));
  const deref = (node) =>
    node?.$ref
      ? deref(
          node.$ref
            .split('/')
            .slice(1)
            .reduce((part, key) => part[key], bundle),
        )
      : node;
  const facts = new Set();
  for (const operation of Object.values(bundle.paths).flatMap((item) => Object.values(item))) {
    if (!operation.operationId) continue;
    const all = [
      ...Object.entries(operation.responses).flatMap(([status, reply]) =>
        replyFacts(status, deref(reply), deref),
      ),
      ...Object.keys(operation.requestBody?.content ?? {}).map((mediaType) => `takes ${mediaType}`),
      ...actionsOf(operation, deref).map((action) => `does ${action}`),
    ];
    for (const fact of all) facts.add(`${operation.operationId} ${fact}`);
  }
  return facts;
}

function replyFacts(status, { content }, deref) {
  if (!content) return [status, `${status} no body`];
  const examples = Object.values(content).flatMap(({ example, examples = {} }) => [
    example,
    ...Object.values(examples).map((each) => deref(each).value),
  ]);
  const failures = Number(status) >= 400 ? examples.filter((example) => example !== undefined) : [];
  return [
    status,
    ...Object.keys(content).map((mediaType) => `${status} ${mediaType}`),
    ...failures.map(({ code }) => `${status} ${code}`),
    // every message of an example, by its template in openapi/errors.yaml
    ...failures.flatMap((failure) =>
      matchFailure(Number(status), failure).texts.map((text) => `says ${status} ${text}`),
    ),
  ];
}

function actionsOf({ requestBody, parameters = [] }, deref) {
  const shapes = Object.values(requestBody?.content ?? {})
    .map(({ schema }) => deref(schema) ?? {})
    .flatMap((schema) => schema.oneOf ?? schema.anyOf ?? [schema])
    .map((schema) => deref(deref(schema).properties?.action));
  const queries = parameters.map(deref).filter(({ name }) => name === 'action');
  return [...shapes, ...queries.map(({ schema }) => deref(schema))].flatMap((schema) =>
    // An `action` without fixed values is a filter.
    (schema?.enum ?? [schema?.const]).filter((action) => action !== undefined),
  );
}

function seenFacts() {
  const folder = join(root, 'coverage', 'contract');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const lines = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return new Set(lines.filter((line) => line !== ''));
}
