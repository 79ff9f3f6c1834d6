import type { Contract, Schema } from '../contract.js';
import { eventTypes } from '../parts/events.js';
import { largestPageOf, PAGE_SIZE } from '../parts/page-size.js';
import { operationsOf, propertiesOf, type OperationEntry } from '../operations.js';
import { filePaths, repeatOf } from '../repeatable.js';
import { RETRIES, retriedCodes, statusesOf } from '../retries.js';

const HEAD = '"""Generated from the contract. Do not edit."""\n';

/** Returns the modules of the Python SDK's _core package that follow from the contract, by their file names. */
export function pythonTables(contract: Contract): Record<string, string> {
  return {
    'operations.py': operationsModule(contract),
    'fields.py': fieldsModule(contract),
    'retries.py': retriesModule(),
    'events.py': eventsModule(contract),
  };
}

function operationsModule(contract: Contract): string {
  const operations = operationsOf(contract);
  const keysOf = (found: OperationEntry[]) =>
    found.map(({ method, path }) => `    ("${method}", "${path}"),`);
  const taking = operations.filter(({ parameters }) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  const sizes = operations.flatMap((operation) => {
    const size = operation.id.startsWith('list') && largestPageOf(contract, operation);
    return size ? [`    ("${operation.method}", "${operation.path}"): ${size},`] : [];
  });
  const type = 'frozenset[tuple[str, str]]';
  return [
    HEAD,
    `TAKES_IDEMPOTENCY_KEY: ${type} = frozenset({\n${keysOf(taking).join('\n')}\n})\n`,
    '# What the service may execute twice, or executes once for the same Idempotency-Key.',
    `REPEATABLE: ${type} = frozenset({`,
    ...keysOf(operations.filter((operation) => repeatOf(operation) !== 'never')),
    '})\n',
    `FILE_PATHS: tuple[str, ...] = (${filePaths(contract)
      .map((path) => `"${path}", `)
      .join('')})\n`,
    `PAGE_SIZE = ${PAGE_SIZE}\n`,
    `LARGEST_PAGES: dict[tuple[str, str], int] = {\n${sizes.join('\n')}\n}`,
    '',
  ].join('\n');
}

/** The fields of each body: the name in Python, and the name of the API. */
function fieldsModule(contract: Contract): string {
  const rows = operationsOf(contract).flatMap(({ id, bodies }) => {
    const body: Schema | undefined = bodies['application/json'];
    if (!body) return [];
    const names = Object.keys(propertiesOf(contract, body));
    return [
      `    "${snakeCase(id)}": {${names.map((name) => `"${snakeCase(name)}": "${name}"`).join(', ')}},`,
    ];
  });
  return `${HEAD}\nFIELDS: dict[str, dict[str, str]] = {\n${rows.join('\n')}\n}\n`;
}

export const snakeCase = (name: string) => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

/** The class of each type of event. Newer types have none. */
function eventsModule(contract: Contract): string {
  const events = eventTypes(contract);
  return [
    HEAD,
    'from __future__ import annotations\n',
    'from collections.abc import Mapping',
    'from typing import TYPE_CHECKING, Any, Union\n',
    'from . import models\n',
    'if TYPE_CHECKING:',
    `    TypedEvent = Union[${events.map(({ schema }) => `models.${schema}`).join(', ')}]`,
    'else:',
    '    TypedEvent = object\n\n',
    'def typed_event(name: str, body: Mapping[str, Any]) -> TypedEvent | None:',
    ...events.flatMap(({ type, schema }) => [
      `    if name == "${type}":`,
      `        return models.${schema}.from_dict(body)`,
    ]),
    '    return None',
    '',
  ].join('\n');
}

function retriesModule(): string {
  const { pause } = RETRIES;
  const list = (values: (string | number)[]) =>
    `(${values.map((value) => `${JSON.stringify(value)}, `).join('')})`;
  return [
    '"""Generated from sdk/retries.yaml. Do not edit."""\n',
    `MAX_RETRIES = ${RETRIES.attempts - 1}`,
    `CONNECT_SECONDS = ${RETRIES.connect_seconds}`,
    `ATTEMPT_SECONDS = ${RETRIES.attempt_seconds}`,
    `LAST_ATTEMPT_SECONDS = ${RETRIES.last_attempt_seconds}`,
    `FIRST_PAUSE_SECONDS = ${pause.first_seconds}`,
    `PAUSE_FACTOR = ${pause.factor}`,
    `LONGEST_PAUSE_SECONDS = ${pause.longest_seconds}`,
    `PAUSE_JITTER = ${pause.jitter}`,
    `LONGEST_RETRY_AFTER_SECONDS = ${RETRIES.retry_after.longest_seconds}`,
    `BATCH_LINES = ${RETRIES.batch_lines}`,
    `ALWAYS = ${list(statusesOf('always'))}`,
    `CODES = ${list(retriedCodes())}`,
    `REPEATABLE = ${list(statusesOf('repeatable'))}`,
    '',
  ].join('\n');
}
