import type { DateDamageProblem } from './damaged-numbers.js';
import { readText, type TextKind, type TextRuleProblem } from './text-rules.js';

/** Why a text of a bulk request is rejected. */
export type TextProblem =
  | TextRuleProblem
  | DateDamageProblem
  | [problem: 'blank']
  | [problem: 'maxLength', args: { limit: number }];

export type TextRules = { kind: TextKind; isRequired: boolean; maxChars: number };

/** Reads a cell of an upload or a field of a synchronisation by the same rules as the field of a JSON body. */
export function readField(
  sent: string,
  { kind, isRequired, maxChars }: TextRules,
): { text: string; problem?: TextProblem } {
  const read = readText(kind, sent);
  const { text } = read;
  if (read.problem) return read;
  if (text === '') return isRequired ? { text, problem: ['blank'] } : { text };
  // Counting UTF-16 units first avoids the slower count of code points.
  if (text.length > maxChars && [...text].length > maxChars)
    return { text, problem: ['maxLength', { limit: maxChars }] };
  return { text };
}
