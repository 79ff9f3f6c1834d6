import { compareOperation } from './operations/compare-operation.js';
import { operationsOf, type Contract, type Schema } from './contract.js';
import {
  breaks,
  extendsContract,
  startAt,
  type Comparison,
  type Finding,
  type Position,
} from './findings.js';
import { compareSchemes } from './operations/security.js';
import { compareWebhook } from './operations/webhooks.js';

/** Returns what integrators notice between two comparison. Texts, examples and the order of keys are not compared. */
export function compareContracts(before: Contract, after: Contract): Finding[] {
  const findings: Finding[] = [];
  const unchanged = { request: new Map(), response: new Map() };
  const comparison = { before, after, findings, unchanged };
  comparePaths(comparison);
  compareWebhooks(comparison);
  compareSchemes(startAt(comparison, 'Security schemes', ''));
  compareServers(startAt(comparison, 'Servers', ''));
  compareTypes(startAt(comparison, 'Schemas', ''));
  return findings;
}

function comparePaths(comparison: Comparison): void {
  const [old, current] = [operationsOf(comparison.before.paths), operationsOf(comparison.after.paths)];
  for (const [call, operation] of old) {
    const { operationId } = operation;
    const at = startAt(comparison, `${operationId} (${call})`, operationId);
    const now = current.get(call);
    if (now) compareOperation(at, operation, now);
    else breaks(at, 'The operation was removed. Callers get 404 or 405.');
  }
  for (const [call, { operationId }] of current) {
    if (old.has(call)) continue;
    const at = startAt(comparison, `${operationId} (${call})`, operationId);
    extendsContract(at, 'The operation is new.', { names: [operationId, pathName(call)] });
  }
}

/** Returns the last part of a path as people write it: `ManageManifest` for `POST /api/ManageManifest.php`. */
const pathName = (call: string): string => (call.split('/').at(-1) ?? call).replace(/\.php$/, '');

function compareWebhooks(comparison: Comparison): void {
  const [old, current] = [operationsOf(comparison.before.webhooks), operationsOf(comparison.after.webhooks)];
  for (const [call, webhook] of old) {
    const at = startAt(comparison, `Webhook ${webhook.operationId}`, webhook.operationId);
    const now = current.get(call);
    if (now) compareWebhook(at, webhook, now);
    else breaks(at, 'The webhook was removed. Receivers that wait for it never get it.');
  }
  for (const [call, { operationId }] of current)
    if (!old.has(call))
      extendsContract(startAt(comparison, `Webhook ${operationId}`, operationId), 'The webhook is new.');
}

function compareServers(at: Position): void {
  const [old, current] = [at.before, at.after].map(({ servers = [] }) => servers.map(({ url }) => url));
  for (const url of old ?? [])
    if (!current?.includes(url)) breaks({ ...at, place: url, name: url }, 'The server was removed.');
  for (const url of current ?? [])
    if (!old?.includes(url)) extendsContract({ ...at, place: url, name: url }, 'The server is new.');
}

function compareTypes(at: Position): void {
  const typesOf = ({ components }: Contract): Record<string, Schema> => components.schemas;
  const current = typesOf(at.after);
  for (const name of Object.keys(typesOf(at.before)))
    if (!(name in current))
      breaks({ ...at, place: name, name }, 'No schema has this name now. Generated clients lose the type.');
}
