// JSON as receivers write it that parse a body and serialise it again before they verify its signature.

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Returns the ways in which common languages write the same content. None of them equals the body that is sent. */
export function rewrittenBodies(body: string): string[] {
  // It is our own body.
  const content = JSON.parse(body) as Json;
  const bodies = [
    // Python
    write(content, { comma: ', ', colon: ': ', text: (text) => escapeUnicode(JSON.stringify(text)) }),
    write(content, { comma: ', ', colon: ': ' }),
    // PHP, and with JSON_UNESCAPED_UNICODE
    write(content, { text: (text) => escapeUnicode(JSON.stringify(text)).replaceAll('/', '\\/') }),
    write(content, { text: (text) => JSON.stringify(text).replaceAll('/', '\\/') }),
    // Python without spaces, and .NET, which writes upper-case digits
    write(content, { text: (text) => escapeUnicode(JSON.stringify(text)) }),
    write(content, { text: (text) => escapeUnicode(JSON.stringify(text), true) }),
    // Go, which sorts the names of a map
    write(content, { isSorted: true }),
    // With line breaks
    JSON.stringify(content, null, 2),
    JSON.stringify(content, null, 4),
  ];
  return bodies.filter((each) => each !== body);
}

type Style = { comma?: string; colon?: string; text?: (text: string) => string; isSorted?: boolean };

function write(value: Json, style: Style): string {
  const { comma = ',', colon = ':', text = JSON.stringify, isSorted = false } = style;
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map((each) => write(each, style)).join(comma)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const names = isSorted ? Object.keys(value).sort() : Object.keys(value);
  const members = names.map((name) => `${text(name)}${colon}${write(value[name] ?? null, style)}`);
  return `{${members.join(comma)}}`;
}

const escapeUnicode = (json: string, isUpper = false): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${isUpper ? digits.toUpperCase() : digits}`;
  });
