import type { DataOf } from '../../../platform/contract/types.js';
import { describeProblem } from '../../../platform/errors/errors.js';
import { readField, type TextProblem } from '../../../platform/values/validate-text.js';
import { splitFullName } from '../shared/full-name.js';
import { plainName } from './sync-list.js';

/** A customer of a courier's system. An undefined field is left unchanged, null clears it. */
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

// The accepted field names, in order of precedence. The contract lists them at syncCustomers.
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
    // Object.entries() returns the keys of SPELLINGS.
    names.map((name, rank) => [name, { meaning: meaning as Meaning, rank }] as const),
  ),
);
const MAX_NAME_CHARS = 40;

/**
 * Returns the known fields of a record by their standard name. If several names have the same meaning, the
 * first one with a value other than null counts.
 */
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

/** Records a problem and returns null, because there is no value. */
type ReportProblem = (field: Field | null, ...problem: RecordProblem) => null;

/** The problems whose codes the contract names for a record. */
type RecordProblem =
  | TextProblem
  | [problem: 'required' | 'encoding' | 'email_pattern']
  | [problem: 'type', args: { type: string }]
  | [problem: 'field_too_large', args: { limit: string }]
  | [problem: 'enum', args: { values: string }];

/** Returns the customer of a record, or undefined after all its problems were recorded. */
export function readRecord(
  record: unknown,
  index: number,
  report: (problem: SyncProblem) => void,
): SyncedCustomer | undefined {
  const problems: SyncProblem[] = [];
  const customer = customerOf(record, index, (field, ...problem) => {
    const { code, message } = describeProblem<RecordProblem>(field ?? 'the record', ...problem);
    problems.push({ index, field, code, message: `Record ${index}: ${message}` });
    return null;
  });
  problems.forEach(report);
  return problems.length === 0 && customer ? customer : undefined;
}

function customerOf(record: unknown, index: number, report: ReportProblem): SyncedCustomer | null {
  if (record === undefined) return report(null, 'field_too_large', { limit: '64 KiB' });
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return report(null, 'type', { type: 'an object' });
  const fields = fieldsOf(record);
  const userCode = codeOf(fields.get('user_code')) ?? report('user_code', 'required');
  return {
    index,
    // If it is missing, the problem is already recorded.
    userCode: textOf(userCode, 'user_code', report) ?? '',
    ...namesOf(fields, report),
    branch: textOf(fields.get('branch'), 'branch', report),
    email: emailOf(fields.get('email'), report),
    isActive: isActiveOf(fields.get('is_active'), report) ?? undefined,
  };
}

/** A code as a number is read as its digits. Beyond this size, reading the JSON has changed them. */
const codeOf = (value: unknown): unknown =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? String(value) : value;

const OPTIONAL: readonly Field[] = ['branch', 'email'];
const CODES: readonly Field[] = ['user_code', 'email'];
const MAX_CHARS = 100;
const MAX_EMAIL_CHARS = 254;

/** Returns undefined for a missing field, null for an empty one. */
function textOf(value: unknown, field: Field, report: ReportProblem): string | null | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value !== 'string') return report(field, 'type', { type: 'a string' });
  if (!value.isWellFormed()) return report(field, 'encoding');
  const isOptional = OPTIONAL.includes(field);
  const { text, problem } = readField(value, {
    kind: CODES.includes(field) ? 'code' : 'line',
    isRequired: !isOptional,
    maxChars: field === 'email' ? MAX_EMAIL_CHARS : MAX_CHARS,
  });
  if (problem) return report(field, ...problem);
  return isOptional && text === '' ? null : text;
}

/** A missing name is left unchanged, unless a full name contains it. */
function namesOf(
  fields: Map<Meaning, unknown>,
  report: ReportProblem,
): Pick<SyncedCustomer, 'firstName' | 'lastName'> {
  const [given, family] = splitName(fields.get('full_name'));
  return {
    firstName: textOf(fields.get('first_name') ?? given, 'first_name', report) ?? undefined,
    lastName: textOf(fields.get('last_name') ?? family, 'last_name', report) ?? undefined,
  };
}

/**
 * Splits a full name at its last space. A value that is not text is returned for both parts, so that its type
 * is reported.
 */
function splitName(whole: unknown): [given: unknown, family: unknown] {
  if (typeof whole !== 'string') return [whole, whole];
  return whole.trim() === '' ? [undefined, undefined] : splitFullName(whole);
}

function emailOf(value: unknown, report: ReportProblem): string | null | undefined {
  const email = textOf(value, 'email', report);
  // The same pattern as in createCustomer of the contract.
  if (email && !/^[^\s@]+@[^\s@]+$/.test(email)) return report('email', 'email_pattern');
  return email;
}

const FLAGS = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true', 'yes', 'active', 'enabled'].map((word) => [word, true] as const),
  ...[false, 0, '0', 'false', 'no', 'inactive', 'disabled'].map((word) => [word, false] as const),
]);

function isActiveOf(value: unknown, report: ReportProblem): boolean | null {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (word === undefined || word === null || word === '') return null;
  return FLAGS.get(word) ?? report('is_active', 'enum', { values: '1, 0, true, false, active, inactive' });
}
