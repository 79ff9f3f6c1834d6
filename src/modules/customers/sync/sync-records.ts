import type { DataOf } from '../../../platform/contract/types.js';
import { describeProblem } from '../../../platform/errors/errors.js';
import { validateText, type TextProblem } from '../crud/fields.js';
import { plainName } from './sync-list.js';

/** A customer as a courier's system has it. What is undefined stays as it is stored, null clears it. */
export type SyncedCustomer = {
  index: number;
  userCode: string;
  firstName: string | undefined;
  lastName: string | undefined;
  branch: string | null | undefined;
  email: string | null | undefined;
  isActive: boolean | undefined;
};

export type SyncProblem = DataOf<'listCustomerSyncs'>[number]['problems'][number];
type Field = NonNullable<SyncProblem['field']>;

// What fields are called elsewhere, the name that counts more first. Listed in the contract, at syncCustomers.
const SPELLINGS = {
  user_code: ['usercode', 'code', 'customercode', 'account', 'accountnumber', 'mailbox', 'mailboxnumber'],
  first_name: ['firstname', 'givenname'],
  last_name: ['lastname', 'surname', 'familyname'],
  full_name: ['name', 'fullname'],
  branch: ['branch', 'location', 'pickuplocation', 'pickup'],
  email: ['email', 'emailaddress'],
  is_active: ['isactive', 'active', 'status'],
} satisfies Record<Field | 'full_name', string[]>;

type Meaning = keyof typeof SPELLINGS;

const MEANINGS = new Map(
  Object.entries(SPELLINGS).flatMap(([meaning, names]) =>
    // as: the table's own keys
    names.map((name, rank) => [name, { meaning: meaning as Meaning, rank }] as const),
  ),
);
const MAX_NAME_CHARS = 40;

/** What a record says, by our names for it. Of several names for one thing the first counts that is not null. */
function fieldsOf(record: object): Map<Meaning, unknown> {
  const found = new Map<Meaning, { rank: number; value: unknown }>();
  for (const [name, value] of Object.entries(record)) {
    const known = name.length > MAX_NAME_CHARS ? undefined : MEANINGS.get(plainName(name));
    if (!known) continue;
    const rank = value === null ? Infinity : known.rank;
    if (rank <= (found.get(known.meaning)?.rank ?? Infinity)) found.set(known.meaning, { rank, value });
  }
  return new Map([...found].map(([meaning, { value }]) => [meaning, value]));
}

/** Notes what is wrong; null, for there is nothing to take. */
type Say = (field: Field | null, ...problem: RecordProblem) => null;

/** The problems whose codes the contract names for a record. */
type RecordProblem =
  | TextProblem
  | [problem: 'required' | 'encoding' | 'email_pattern']
  | [problem: 'type', args: { type: string }]
  | [problem: 'field_too_large', args: { limit: string }]
  | [problem: 'enum', args: { values: string }];

/** The customer that a record describes, or undefined after everything that is wrong with it has been noted. */
export function readRecord(
  record: unknown,
  index: number,
  note: (problem: SyncProblem) => void,
): SyncedCustomer | undefined {
  const problems: SyncProblem[] = [];
  const customer = customerOf(record, index, (field, ...problem) => {
    const { code, message } = describeProblem<RecordProblem>(field ?? 'the record', ...problem);
    problems.push({ index, field, code, message: `Record ${index}: ${message}` });
    return null;
  });
  problems.forEach(note);
  return problems.length === 0 && customer ? customer : undefined;
}

function customerOf(record: unknown, index: number, say: Say): SyncedCustomer | null {
  if (record === undefined) return say(null, 'field_too_large', { limit: '64 KiB' });
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return say(null, 'type', { type: 'an object' });
  const fields = fieldsOf(record);
  const userCode = fields.get('user_code') ?? say('user_code', 'required');
  return {
    index,
    // what is not there has been noted
    userCode: textOf(userCode, 'user_code', say) ?? '',
    ...namesOf(fields, say),
    branch: textOf(fields.get('branch'), 'branch', say),
    email: emailOf(fields.get('email'), say),
    isActive: isActiveOf(fields.get('is_active'), say) ?? undefined,
  };
}

const OPTIONAL: readonly Field[] = ['branch', 'email'];
const MAX_EMAIL_CHARS = 254;

/** Undefined for what is not there, null for what says nothing. */
function textOf(value: unknown, field: Field, say: Say): string | null | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value !== 'string') return say(field, 'type', { type: 'a string' });
  if (!value.isWellFormed()) return say(field, 'encoding');
  const text = value.trim();
  const isOptional = OPTIONAL.includes(field);
  const fault = validateText(text, !isOptional, ...(field === 'email' ? [MAX_EMAIL_CHARS] : []));
  if (fault) return say(field, ...fault);
  return isOptional && text === '' ? null : text;
}

/** A name that is not there stays as it is stored; a part of the whole name fills in for it, where there is one. */
function namesOf(fields: Map<Meaning, unknown>, say: Say): Pick<SyncedCustomer, 'firstName' | 'lastName'> {
  const [given, family] = splitName(fields.get('full_name'));
  return {
    firstName: textOf(fields.get('first_name') ?? given, 'first_name', say) ?? undefined,
    lastName: textOf(fields.get('last_name') ?? family, 'last_name', say) ?? undefined,
  };
}

/** What stands before the last space, and behind it; what is no text is both. */
function splitName(whole: unknown): [given: unknown, family: unknown] {
  if (typeof whole !== 'string') return [whole, whole];
  const text = whole.trim();
  if (text === '') return [undefined, undefined];
  const [family = ''] = /\S+$/.exec(text) ?? [];
  return [text.slice(0, -family.length), family];
}

function emailOf(value: unknown, say: Say): string | null | undefined {
  const email = textOf(value, 'email', say);
  // as the contract has it for createCustomer
  if (email && !/^[^\s@]+@[^\s@]+$/.test(email)) return say('email', 'email_pattern');
  return email;
}

const FLAGS = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true', 'yes', 'active', 'enabled'].map((word) => [word, true] as const),
  ...[false, 0, '0', 'false', 'no', 'inactive', 'disabled'].map((word) => [word, false] as const),
]);

function isActiveOf(value: unknown, say: Say): boolean | null {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (word === undefined || word === null || word === '') return null;
  return FLAGS.get(word) ?? say('is_active', 'enum', { values: '1, 0, true, false, active, inactive' });
}
