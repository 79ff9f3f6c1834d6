const MASK = '***';
/** A shorter token would mask letters of ordinary words. It guards nothing: anybody can guess it. */
const MIN_SECRET_LENGTH = 4;
/** An escape may be escaped again, such as JSON in a string of JSON. */
const MAX_ESCAPES = 2;
const PREFIX_LENGTH = 8;
/** What a character takes at most in a text with two escapes: `%26%23x27%3B`. */
const MAX_ESCAPED_LENGTH = 12;

/** From the first unit of a part up to and without the last one. */
type Span = [start: number, end: number];
/** A text that occurs where a secret occurs, how many units around it also belong to the secret, and its borders (`bordersOf`). */
type Needle = { text: string; before: number; after: number; borders: Uint16Array };
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
  const usable = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const margin = Math.max(0, ...usable.map(({ length }) => length)) * MAX_ESCAPED_LENGTH;
  const needles = usable.flatMap(needlesOf);
  return (text, maxLength, isCut = false) => {
    const searched = text.slice(0, maxLength + margin);
    const masked = replaceSpans(searched, findSpans(searched, needles, MAX_ESCAPES));
    if (!isCut && searched.length === text.length) return { text: masked, isCut: false };
    // The end may be the start of a secret whose rest was not searched.
    return { text: masked.slice(0, Math.max(0, masked.length - margin)), isCut: true };
  };
}

function findSpans(text: string, needles: Needle[], escapes: number): Span[] {
  const spans = needles.flatMap((needle) => findNeedle(text, needle));
  if (escapes === 0) return spans;
  for (const escape of ESCAPES) {
    const decoded = text.replace(escape.pattern, escape.read);
    const found = decoded === text ? [] : findSpans(decoded, needles, escapes - 1);
    if (found.length === 0) continue;
    const starts = startsIn(text, escape);
    for (const [start, end] of found) spans.push([starts[start] ?? 0, starts[end] ?? text.length]);
  }
  return spans;
}

/**
 * Finds a needle by the algorithm of Knuth, Morris and Pratt, our own: the search of V8 takes the product of both lengths for a secret like
 * aa…ab…aa in a text of a's, which a courier can choose, and no maintained package searches one text.
 */
function findNeedle(text: string, { text: needle, before, after, borders }: Needle): Span[] {
  const spans: Span[] = [];
  const { length } = needle;
  // An ordinary text has none, which V8 finds faster.
  const first = text.indexOf(needle.slice(0, PREFIX_LENGTH));
  if (first < 0) return spans;
  let matched = 0;
  for (let at = first; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched += 1;
    if (matched < length) continue;
    spans.push([Math.max(0, at + 1 - length - before), Math.min(text.length, at + 1 + after)]);
    matched = 0;
  }
  return spans;
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
  const needles = [needleOf(secret, 0, 0)];
  const bytes = Buffer.from(secret);
  for (const offset of [0, 1, 2]) {
    const bits = 8 * (offset + bytes.length);
    const before = offset === 0 ? 0 : 1;
    const after = bits % 6 === 0 ? 0 : 1;
    const inBase64 = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const text = inBase64.slice(offset + before, Math.floor(bits / 6));
    needles.push(needleOf(text, before, after));
    const inUrl = text.replaceAll('+', '-').replaceAll('/', '_');
    if (inUrl !== text) needles.push(needleOf(inUrl, before, after));
  }
  return needles;
}

const needleOf = (text: string, before: number, after: number): Needle => ({
  text,
  before,
  after,
  borders: bordersOf(text),
});

function replaceSpans(text: string, spans: Span[]): string {
  const parts: string[] = [];
  let end = -1;
  for (const span of spans.sort(([a], [b]) => a - b)) {
    if (span[0] > end) parts.push(text.slice(Math.max(0, end), span[0]), MASK);
    end = Math.max(end, span[1]);
  }
  return parts.join('') + text.slice(Math.max(0, end));
}
