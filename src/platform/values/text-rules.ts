import { damageOf, type DamageProblem } from './damaged-numbers.js';
import { isBlank, removeInvisible } from './invisible.js';
import { NONCHARACTER } from './noncharacters.js';

/**
 * The rule of a text input. The contract states it as `x-text` for every text that a caller may send:
 *
 * - `code`: a code or number. One line, without invisible characters, and not what a spreadsheet left of a number.
 * - `line`: a name or another text of one line.
 * - `text`: a text that may have line breaks and tabs.
 * - `search`: a text to search for, of one line.
 * - `scan`: a scan or tracking number. Its reader removes what a scanner adds.
 * - `one_time_code`: a code that a person copies. White space inside is removed.
 * - `exact`: a secret or a fixed text, used as it was sent.
 *
 * All but `exact` are trimmed. A text of invisible characters alone is blank, except a scan, which its reader reads.
 */
export const TEXT_KINDS = ['code', 'line', 'text', 'search', 'scan', 'one_time_code', 'exact'] as const;

export type TextKind = (typeof TEXT_KINDS)[number];

export type TextRuleProblem =
  | [problem: 'control_character', args: { character: string; position: number }]
  | DamageProblem;

export type ReadText = { text: string; problem?: TextRuleProblem };

/** Most texts. Their control characters and invisible characters need not be looked for. */
const PLAIN = /^[ -~]*$/;

// As ranges: the classes of Unicode take ten times as long.
const ONE_LINE = new RegExp(`[\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]|${NONCHARACTER}`);
const SEVERAL_LINES = new RegExp(
  `[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]|${NONCHARACTER}`,
);

/**
 * White space, and the invisible characters that have no meaning at the ends of a text: String.trim() removes only U+FEFF of them.
 * A variation selector or a joiner may belong to the character before it.
 */
const EDGE = /[\s\u00ad\u115f\u1160\u180e\u200b\u2060\u2800\u3164\ufeff\uffa0]/;

type Rule = { forbidden?: RegExp; isCompact?: boolean; removesSpaces?: boolean; findsDamage?: boolean };

const RULES: Record<Exclude<TextKind, 'exact'>, Rule> = {
  code: { forbidden: ONE_LINE, isCompact: true, findsDamage: true },
  line: { forbidden: ONE_LINE },
  text: { forbidden: SEVERAL_LINES },
  search: { forbidden: ONE_LINE },
  scan: { findsDamage: true },
  one_time_code: { forbidden: ONE_LINE, isCompact: true, removesSpaces: true },
};

/** Returns a text as it is stored and compared, and why it is refused. */
export function readText(kind: TextKind, sent: string): ReadText {
  if (kind === 'exact') return { text: sent };
  const { forbidden, isCompact, removesSpaces, findsDamage } = RULES[kind];
  const isPlain = PLAIN.test(sent);
  let text = sent.trim();
  if (!isPlain && kind !== 'scan') text = isBlank(text) ? '' : trimEdges(text);
  if (!isPlain && isCompact) text = removeInvisible(text).trim();
  if (removesSpaces) text = text.replace(/\s+/g, '');
  const problem =
    (!isPlain && forbidden ? controlCharacterIn(text, sent, forbidden) : undefined) ??
    (findsDamage ? damageOf(text) : undefined);
  return problem ? { text, problem } : { text };
}

/** A loop, because a pattern for the end of a text takes quadratic time. */
function trimEdges(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && EDGE.test(text.charAt(start))) start += 1;
  while (end > start && EDGE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function controlCharacterIn(text: string, sent: string, forbidden: RegExp): TextRuleProblem | undefined {
  const found = forbidden.exec(text);
  if (!found) return undefined;
  const [character] = found;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  // Trimmed characters count, because the caller sees the text as it was sent.
  const start = sent.length - sent.trimStart().length;
  const position = [...sent.slice(0, sent.indexOf(character, start))].length + 1;
  return ['control_character', { character: `U+${code}`, position }];
}
