import type { Operation } from './contract.js';

/** The name of an operation in the SDK: `client.packages.label()`. */
export type MethodName = { group: string; method: string };

/** The group of each tag, and the nouns that a method's name need not repeat. */
const GROUPS: Record<string, { group: string; nouns: string[] }> = {
  Login: { group: 'auth', nouns: [] },
  Invoices: { group: 'billing', nouns: ['CourierInvoice', 'Courier', 'Billing'] },
  Rates: { group: 'rates', nouns: ['CourierRates', 'Rates', 'Rate'] },
  Webhooks: { group: 'webhooks', nouns: ['Webhook'] },
  Audit: { group: 'audit', nouns: ['AuditEntries', 'AuditLog'] },
};

/** Operations that belong elsewhere than their tag says. */
const EXCEPTIONS: Record<string, MethodName> = {
  listEvents: { group: 'events', method: 'list' },
};

/**
 * Returns the group by the tag, and the operationId without the group's noun: `receivePackage` is `packages.receive`. `get` is
 * dropped if a noun remains: `getPackageLabel` is `packages.label`.
 */
export function nameOf({ operationId, tags }: Pick<Operation, 'operationId' | 'tags'>): MethodName {
  const exception = EXCEPTIONS[operationId];
  if (exception) return exception;
  const [tag = ''] = tags;
  const singular = tag.replace(/s$/, '');
  const { group, nouns } = GROUPS[tag] ?? { group: tag.toLowerCase(), nouns: [tag, singular] };
  const noun = nouns.find((each) => hasWord(operationId, each));
  const short = noun ? operationId.replace(noun, '') : operationId;
  const [, rest = ''] = /^get([A-Z].*)$/.exec(short) ?? [];
  return { group, method: rest ? rest.charAt(0).toLowerCase() + rest.slice(1) : short };
}

/** Whether the name contains the noun as whole words. */
const hasWord = (name: string, noun: string) => new RegExp(`${noun}(?![a-z])`).test(name);
