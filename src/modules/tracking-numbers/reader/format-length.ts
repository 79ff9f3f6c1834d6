/** The shortest and the longest text that an expression matches. */
export type LengthRange = { min: number; max: number };

const NONE: LengthRange = { min: 0, max: 0 };
const ONE: LengthRange = { min: 1, max: 1 };

/** An assertion, a class, an escape, a count, the beginning of a group, or one character. */
const TOKENS = /\\b|\\s\*|\[[^[\]]*\]|\\.|\{\d+(?:,\d*)?\}|[*+?]|\(\?<\w+>|\(\?:|\(\?[=!]|\(|\)|\||[^]/g;

const ASSERTIONS = new Set(['\\b', '\\s*', '^', '$']);

/**
 * Returns the lengths of the texts without white space that an expression of the data set can match. The libraries that analyse
 * expressions are made for tools: they build syntax trees of the whole language, of which the data set uses a small part.
 */
export function lengthRangeOf(source: string): LengthRange {
  const tokens = source.match(TOKENS) ?? [];
  const { range, next } = readAlternatives(tokens, 0);
  if (next !== tokens.length) throw new Error(`The expression ${source} has a parenthesis too many.`);
  return range;
}

type Read = { range: LengthRange; next: number };

/** Reads up to the end of the group. */
function readAlternatives(tokens: string[], from: number): Read {
  let { range, next } = readSequence(tokens, from);
  while (tokens[next] === '|') {
    const other = readSequence(tokens, next + 1);
    range = {
      min: Math.min(range.min, other.range.min),
      max: Math.max(range.max, other.range.max),
    };
    next = other.next;
  }
  return { range, next };
}

function readSequence(tokens: string[], from: number): Read {
  let range = NONE;
  let next = from;
  while (next < tokens.length && tokens[next] !== '|' && tokens[next] !== ')') {
    const item = readItem(tokens, next);
    const { least, most } = readCount(tokens[item.next]);
    range = { min: range.min + item.range.min * least, max: range.max + item.range.max * most };
    next = tokens[item.next]?.match(/^(?:\{\d|[*+?]$)/) ? item.next + 1 : item.next;
  }
  return { range, next };
}

function readItem(tokens: string[], at: number): Read {
  const token = tokens[at] ?? '';
  if (ASSERTIONS.has(token)) return { range: NONE, next: at + 1 };
  if (!token.startsWith('(')) return { range: ONE, next: at + 1 };
  const { range, next } = readAlternatives(tokens, at + 1);
  const isLook = token === '(?=' || token === '(?!';
  return { range: isLook ? NONE : range, next: next + 1 };
}

function readCount(token = ''): { least: number; most: number } {
  if (token === '*') return { least: 0, most: Infinity };
  if (token === '+') return { least: 1, most: Infinity };
  if (token === '?') return { least: 0, most: 1 };
  if (!token.startsWith('{')) return { least: 1, most: 1 };
  const [least = '', most = least] = token.slice(1, -1).split(',');
  return { least: Number(least), most: Number(most || Infinity) };
}
