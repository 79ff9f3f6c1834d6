const MASK = '***';
/** A shorter token would mask letters of ordinary words. It guards nothing: anybody can guess it. */
const MIN_SECRET_LENGTH = 4;
/** An escape may be escaped again, such as JSON in a string of JSON. */
const MAX_ESCAPES = 2;
const PREFIX_LENGTH = 8;
/**
 * The steps that a search of one text takes at most, for each of its units and at least: 20 ms for 64 KiB, over all secrets and escapes. An
 * answer in all escapes takes three quarters of it with a token and two secrets that sign. Whoever needs more has chosen secrets and answers
 * for that, and nothing of these is kept.
 */
const STEPS_PER_UNIT = 48;
const MIN_STEPS = 10_000;
/** V8 passes so many units in the time of a step, while it looks for the start of a secret. */
const UNITS_PASSED_PER_STEP = 8;
/** What a character takes at most in a text with two escapes: `%26%23x27%3B`. */
const MAX_ESCAPED_LENGTH = 12;

/** A text that occurs where a secret occurs, and how many units around it also belong to the secret. */
type Needle = { text: string; before: number; after: number };
type Escape = { pattern: RegExp; read: (escaped: string) => string };

/** The start of a text without secrets, and whether it ends before the text. It may end within a character of two units. */
export type Masked = { text: string; isCut: boolean };
/**
 * @param maxLength the length that the caller keeps, in units of UTF-16. The result is longer, or shorter if secrets were replaced.
 * @param isCut whether the text is itself the start of a longer one, so that it may end within a secret
 */
export type Mask = (text: string, maxLength: number, isCut?: boolean) => Masked;

/**
 * Returns a function that replaces each secret by `***`, in all spellings of a receiver that repeats the request: escaped as in a URL, in
 * JSON or in HTML, in upper or lower case, also twice, and in base64, as in a header of basic authentication. Adjacent secrets are replaced
 * together. Only the start of a text is searched, whose length depends on what is kept.
 */
export function makeMask(secrets: string[]): Mask {
  const usable = [...new Set(secrets)].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const margin = Math.max(0, ...usable.map(({ length }) => length)) * MAX_ESCAPED_LENGTH;
  const needles = usable.flatMap(needlesOf);
  return (text, maxLength, isCut = false) => {
    const searched = text.slice(0, maxLength + margin);
    const search = { needles, stepsLeft: Math.max(MIN_STEPS, STEPS_PER_UNIT * searched.length) };
    const marks = marksOf(searched, search, MAX_ESCAPES);
    if (search.stepsLeft < 0) return { text: MASK, isCut: true };
    const masked = replaceMarked(searched, marks);
    if (!isCut && searched.length === text.length) return { text: masked, isCut: false };
    // The end may be the start of a secret whose rest was not searched.
    return { text: masked.slice(0, Math.max(0, masked.length - margin)), isCut: true };
  };
}

type Search = { needles: Needle[]; stepsLeft: number };

/** Returns for each unit of a text 1 if it belongs to a secret. Incomplete if no steps are left. */
function marksOf(text: string, search: Search, escapes: number): Uint8Array {
  const marks = new Uint8Array(text.length);
  for (const needle of search.needles) {
    if (search.stepsLeft < 0) return marks;
    markNeedle(text, needle, marks, search);
  }
  if (escapes === 0) return marks;
  for (const escape of ESCAPES) {
    if (search.stepsLeft < 0) break;
    search.stepsLeft -= text.length;
    const decoded = text.replace(escape.pattern, escape.read);
    if (decoded === text) continue;
    const found = marksOf(decoded, search, escapes - 1);
    if (!found.includes(1)) continue;
    const starts = startsIn(text, escape);
    for (const [start, end] of runsOf(found)) marks.fill(1, starts[start] ?? 0, starts[end] ?? text.length);
  }
  return marks;
}

/** Yields the start and the end of each row of marked units. */
function* runsOf(marks: Uint8Array): Generator<[start: number, end: number]> {
  for (let start = marks.indexOf(1); start >= 0;) {
    const next = marks.indexOf(0, start);
    const end = next < 0 ? marks.length : next;
    yield [start, end];
    start = marks.indexOf(1, end);
  }
}

/**
 * Marks a needle by the algorithm of Knuth, Morris and Pratt, our own: the search of V8 takes the product of both lengths for a secret like
 * aa…ab…aa in a text of a's, which a courier can choose, and no maintained package searches one text.
 */
function markNeedle(text: string, needle: Needle, marks: Uint8Array, search: Search): void {
  const { text: sought, before, after } = needle;
  const { length } = sought;
  // An ordinary text has none, which V8 finds faster.
  search.stepsLeft -= text.length / UNITS_PASSED_PER_STEP;
  const first = text.indexOf(sought.slice(0, PREFIX_LENGTH));
  if (first < 0) return;
  search.stepsLeft -= text.length - first;
  if (search.stepsLeft < 0) return;
  const borders = bordersOf(sought);
  let matched = 0;
  for (let at = first; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && sought.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (sought.charCodeAt(matched) === unit) matched += 1;
    if (matched < length) continue;
    marks.fill(1, Math.max(0, at + 1 - length - before), at + 1 + after);
    matched = 0;
  }
}

/** Returns for each start of a text, without the empty one, the length of its longest proper part that is both its start and its end. */
function bordersOf(text: string): Uint16Array {
  const borders = new Uint16Array(text.length);
  let border = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (border > 0 && text[border] !== text[at]) border = borders[border - 1] ?? 0;
    if (text[border] === text[at]) border += 1;
    borders[at] = border;
  }
  return borders;
}

/** Each replaces an escape of one ASCII character. */
const ESCAPES: Escape[] = [
  { pattern: /%[0-7][0-9a-f]/gi, read: (escaped) => fromCode(escaped.slice(1), 16) },
  {
    pattern: /\\(?:u00|x)[0-7][0-9a-f]|\\["'/\\]/gi,
    read: (escaped) => (escaped.length === 2 ? escaped.slice(1) : fromCode(escaped.slice(-2), 16)),
  },
  { pattern: /&(?:#\d{2,3}|#x[0-7][0-9a-f]|amp|lt|gt|quot|apos);/gi, read: (escaped) => readEntity(escaped) },
];

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function readEntity(escaped: string): string {
  const name = escaped.slice(1, -1).toLowerCase();
  if (name.startsWith('#x')) return fromCode(name.slice(2), 16);
  return name.startsWith('#') ? fromCode(name.slice(1), 10) : (NAMED[name] ?? escaped);
}

const fromCode = (digits: string, radix: number): string => String.fromCharCode(parseInt(digits, radix));

/** Returns where each character of the decoded text, and its end, begins in `text`. */
function startsIn(text: string, { pattern }: Escape): number[] {
  const starts: number[] = [];
  let at = 0;
  for (const { index, 0: escaped } of text.matchAll(pattern)) {
    while (at <= index) starts.push(at++);
    at = index + escaped.length;
  }
  while (at <= text.length) starts.push(at++);
  return starts;
}

/** Base64 has three spellings, by the number of bytes before the secret. The characters at its ends also depend on its neighbours. */
function needlesOf(secret: string): Needle[] {
  const needles = [{ text: secret, before: 0, after: 0 }];
  const bytes = Buffer.from(secret);
  for (const offset of [0, 1, 2]) {
    const bits = 8 * (offset + bytes.length);
    const before = offset === 0 ? 0 : 1;
    const after = bits % 6 === 0 ? 0 : 1;
    const inBase64 = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const text = inBase64.slice(offset + before, Math.floor(bits / 6));
    needles.push({ text, before, after });
    const inUrl = text.replaceAll('+', '-').replaceAll('/', '_');
    if (inUrl !== text) needles.push({ text: inUrl, before, after });
  }
  return needles;
}

function replaceMarked(text: string, marks: Uint8Array): string {
  const parts: string[] = [];
  let kept = 0;
  for (const [start, end] of runsOf(marks)) {
    parts.push(text.slice(kept, start), MASK);
    kept = end;
  }
  return parts.join('') + text.slice(kept);
}
