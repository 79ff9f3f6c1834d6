import type { Finding } from './findings.js';
import type { Verdict } from './verdict.js';

/** Returns the verdict as lines, grouped by operation. A change of a shared schema is shown once. */
export function describeVerdict(verdict: Verdict): string[] {
  const { bump, needed, released, version, problems } = verdict;
  const changes = group(verdict.findings);
  const subjects = new Set(changes.map(({ subject }) => subject));
  const lines = [...subjects].flatMap((subject) => [
    subject,
    ...changes.filter((change) => change.subject === subject).map(lineOf),
    '',
  ]);
  return [
    ...lines,
    `Compared with ${released}: ${countOf(changes, 'breaking')} breaking and ${countOf(changes, 'compatible')} compatible changes.`,
    bump === 'none'
      ? 'No version bump is needed.'
      : `Needed version bump: ${bump}, to ${needed}. info.version is ${version}.`,
    ...problems,
  ];
}

type Change = Finding & { others: string[] };

/** Joins findings that say the same about the same place, such as a field of a shared schema or a header of all responses. */
function group(findings: Finding[]): Change[] {
  const changes = new Map<string, Change>();
  for (const [n, finding] of findings.entries()) {
    const { level, place, anchor, text, subject } = finding;
    const where = anchor || place;
    const key = where === '' ? String(n) : [level, where, text].join('\n');
    const known = changes.get(key);
    if (!known) changes.set(key, { ...finding, others: [] });
    else if (known.subject !== subject && !known.others.includes(subject)) known.others.push(subject);
  }
  return [...changes.values()];
}

function lineOf({ level, place, anchor, text, others }: Change): string {
  const where = place.endsWith(anchor) ? place : `${place} (${anchor})`;
  const also = others.length === 0 ? '' : ` Also: ${namesOf(others)}.`;
  return `  ${level.toUpperCase()}  ${where}${where && ': '}${text}${also}`;
}

function namesOf(subjects: string[]): string {
  const names = subjects.slice(0, 3).map((subject) => subject.split(' (')[0]);
  const rest = subjects.length - names.length;
  return rest > 0 ? `${names.join(', ')} and ${rest} more` : names.join(', ');
}

const countOf = (changes: Change[], wanted: Finding['level']): number =>
  changes.filter(({ level }) => level === wanted).length;
