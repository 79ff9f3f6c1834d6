import { gzipSync } from 'node:zlib';
import { type Sent } from '../../../support/builders/customer-sync.js';
import { rounds } from '../../../support/harness/effort.js';

export const MIB = 1024 * 1024;

const LIMIT = 20 * MIB;

const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** Returns a text of this size that repeats one unit. */
const filledTo = (size: number, start: string, unit: string, end = '') =>
  Buffer.concat([
    Buffer.from(start),
    Buffer.alloc(size - start.length - end.length, unit, 'latin1'),
    Buffer.from(end),
  ]);

/** The size of most large texts. Their time grows with the size, so a tenth proves it too; the limit itself has tests of its own. */
const LARGE_MIB = rounds(2, 20);

const filled = (start: string, unit: string, end?: string) => filledTo(LARGE_MIB * MIB, start, unit, end);

const filledToLimit = (start: string, unit: string, end?: string) => filledTo(LIMIT, start, unit, end);

const GOOD = { user_code: 'HOSTILE-1', first_name: 'Ann', last_name: 'Lee' };

const good = JSON.stringify([GOOD]);

const inRecord = (rest: string) => `[{"user_code":"HOSTILE-1","first_name":"Ann","last_name":"Lee",${rest}}]`;

/** An object of this size that consists of small objects. */
function manyObjects(chars: number): string {
  const parts: string[] = [];
  for (let size = 0, n = 0; size < chars; n += 1) {
    const part = `{"k${n}":1}`;
    size += part.length + 1;
    parts.push(part);
  }
  return `{"a":[${parts.join(',')}]}`;
}

/** Responses that change nothing, with a pattern for the run's error message. */
export const REFUSED: [title: string, sent: Sent, words: RegExp][] = [
  ['an empty response', '', /empty/],
  ['white space', ' \r\n\t ', /empty/],
  ['a byte order mark alone', bytes('efbbbf'), /empty/],
  ...['null', 'true', '0', '1e400', '-', '"text"', '"[]"', 'undefined', 'NaN'].map(
    (text): [string, Sent, RegExp] => [text, text, /Respond with a JSON array/],
  ),
  ...[
    '{}',
    '{"data":null}',
    '{"data":{}}',
    '{"data":"[]"}',
    '{"rows":[]}',
    '{"data":[],"items":[]}',
    '{"data":[],"data":[]}',
    '{"data":[],"errors":[]}',
    '{"result":{"data":[]}}',
    '{"__proto__":[]}',
    '{"constructor":[]}',
    '{"":[]}',
    '{"user_code":"A"}\n{"user_code":"B"}',
  ].map((text): [string, Sent, RegExp] => [text, text, /Respond with a JSON array/]),
  ...[
    '[',
    '[{',
    '[{}',
    '[{},',
    '[{},]',
    '[,{}]',
    '[,]',
    '[{}{}]',
    '[{} {}]',
    '[{}]x',
    '[{}][]',
    '[]]',
    '[}',
    '[{]',
    '[{}}',
    '{"data":[]',
    '{"data":[}',
    '{"data":[]}}',
    '{"data":[],}',
    '{"data" []}',
    '{"data":}',
    '{"data":[]"x":1}',
    '{,"data":[]}',
    '{data:[]}',
    '{1:[]}',
    "{'data':[]}",
    '{"data":[],"x":tru}',
    '{"data":[{"a":}]}',
    '[{"user_code":}]',
    '[{"user_code" "A"}]',
    '[{"user_code":"A"]',
    '[{"user_code":"A}]',
    '[{"user_code":"A\\"}]',
    '[{"a":1,}]',
    '[{,}]',
    '[NaN]',
    '[Infinity]',
    '[undefined]',
    '[01]',
    '[+1]',
    '[.5]',
    '[1.]',
    '[0x10]',
    "['a']",
    '["\\x41"]',
    '["\\u12"]',
    '["a\nb"]',
    '["a\0b"]',
    '[tru]',
    '[1 2]',
    '[1:2]',
    '[] // all',
    '[/* none */]',
    `${good.slice(0, -1)},{"user_code":"HOSTILE-2"`,
  ].map((text): [string, Sent, RegExp] => [JSON.stringify(text), text, /not well-formed JSON/]),
  ['an HTML page', '<!doctype html><html><body>[]</body></html>', /HTML or XML/],
  ['XML', '<?xml version="1.0"?><customers/>', /HTML or XML/],
  ['JSONP', `callback(${good})`, /Respond with a JSON array/],
  ['JSON after a security prefix', `)]}',\n${good}`, /Respond with a JSON array/],
  ['CSV', 'user_code,first_name,last_name\nA,B,C\n', /Respond with a JSON array/],
  ['JavaScript', `module.exports = ${good}`, /Respond with a JSON array/],
  ['gzip', gzipSync(good), /compressed/],
  ['a gzip bomb', gzipSync(Buffer.alloc(rounds(24, 256) * MIB)), /compressed/],
  ['zlib', bytes('789c8b8e0500011b00b9'), /UTF-8/],
  ['a picture', bytes('89504e470d0a1a0a0000000d49484452'), /UTF-8/],
  ['UTF-16, little-endian', Buffer.from(`\ufeff${good}`, 'utf16le'), /UTF-8/],
  ['UTF-16, big-endian', Buffer.from(`\ufeff${good}`, 'utf16le').swap16(), /UTF-8/],
  ['Latin-1', Buffer.from(inRecord('"branch":"Nú"'), 'latin1'), /UTF-8/],
  ['an invalid byte', Buffer.concat([Buffer.from('["'), bytes('ff'), Buffer.from('"]')]), /UTF-8/],
  ['an overlong slash', Buffer.concat([Buffer.from('["'), bytes('c0af'), Buffer.from('"]')]), /UTF-8/],
  ['a surrogate in UTF-8', Buffer.concat([Buffer.from('["'), bytes('eda080'), Buffer.from('"]')]), /UTF-8/],
  ['a truncated character at the end', Buffer.concat([Buffer.from('["a"]'), bytes('c3')]), /UTF-8/],
  ['NUL bytes', Buffer.alloc(1000), /Respond with a JSON array/],
  ['200,000 open brackets', '['.repeat(200_000), /nested deeper/],
  ['200,000 nested lists', '['.repeat(200_000) + ']'.repeat(200_000), /nested deeper/],
  ['200,000 nested objects', `[${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}]`, /nested deeper/],
  ['a field nested 33 deep', inRecord(`"x":${'['.repeat(32)}${']'.repeat(32)}`), /nested deeper/],
  ['deep nesting beside the list', `{"data":[],"x":${'['.repeat(100)}${']'.repeat(100)}}`, /nested deeper/],
  ['100,001 records', `[${'{},'.repeat(100_000)}{}]`, /more than 100000 records/],
  ['100,001 records in an object', `{"data":[${'1,'.repeat(100_000)}1]}`, /more than 100000 records/],
  [
    '64 KiB beside the list',
    { data: [], note: 'x'.repeat(65_536) },
    /Other fields of the object must be small/,
  ],
  [
    'a byte more than 20 MiB',
    Buffer.concat([filledToLimit('[', ' ', ']'), Buffer.from(' ')]),
    /longer than 20 MiB/,
  ],
  [`${LARGE_MIB} MiB of brackets`, filled('', '['), /nested deeper/],
  [`${LARGE_MIB} MiB of braces`, filled('', '{'), /nested deeper/],
  [`${LARGE_MIB} MiB of white space`, filled('', ' '), /empty/],
  [`${LARGE_MIB} MiB of white space in a list`, filled('[', ' '), /not well-formed/],
  [`${LARGE_MIB} MiB of quotes`, filled('[', '"'), /not well-formed/],
  [`${LARGE_MIB} MiB of an unclosed text`, filled('["', 'x'), /not well-formed|64 KiB/],
  [`${LARGE_MIB} MiB of backslashes`, filled('["', '\\'), /not well-formed|64 KiB/],
  [`${LARGE_MIB} MiB of escaped quotes`, filled('["', '\\"'), /not well-formed|64 KiB/],
  [`${LARGE_MIB} MiB of numbers`, filled('[', '1,', '1]'), /more than 100000|not well-formed/],
  [`${LARGE_MIB} MiB of commas`, filled('[', ','), /not well-formed/],
  [`${LARGE_MIB} MiB of objects`, filled('[', '{},', '{}]'), /more than 100000|not well-formed/],
  [
    `${LARGE_MIB} MiB of lists beside the list`,
    filled('{"data":[],"x":[', '[],', '[]]}'),
    /Respond with|not well-formed/,
  ],
  [
    `${LARGE_MIB} MiB of an object beside the list`,
    filled('{"data":[],"x":{', '"a":1,', '"a":1}}'),
    /Other fields of the object must be small|not well/,
  ],
  [`${LARGE_MIB} MiB of fields`, filled('{', '"a":1,', '"a":1}'), /Respond with|not well-formed/],
  [`${LARGE_MIB} MiB of a name`, filled('{"', 'x', '":[]}'), /Respond with|not well-formed/],
  [`${LARGE_MIB} MiB of bytes`, filled('', '\xff'), /UTF-8/],
];

/** Responses of which some or no records can be used without harm. */
export const ACCEPTED: [title: string, sent: Sent, counts: object][] = [
  ['a byte order mark', Buffer.concat([bytes('efbbbf'), Buffer.from(good)]), { created: 1 }],
  ['white space everywhere', ` \r\n[ ${JSON.stringify(GOOD, null, '\t')} ]\n `, { created: 1 }],
  // Their structured clone holds a thread for a tenth of a second, so it is not handed over.
  [
    'a million small values in fields beside the list',
    `{${Array.from({ length: 20 }, (_, n) => `"f${n}":${manyObjects(63 * 1024)}`).join(',')},"data":${good}}`,
    { created: 1 },
  ],
  ['a list in an object, with white space', `{ "total" : 1 , "data" : ${good} }`, { created: 1 }],
  [
    '__proto__ that contains a code',
    '[{"__proto__":{"user_code":"P","first_name":"A","last_name":"B"}}]',
    { skipped: 1 },
  ],
  ['__proto__ beside a customer', inRecord('"__proto__":{"polluted":1}'), { created: 1 }],
  ['constructor beside a customer', inRecord('"constructor":{"prototype":{"polluted":1}}'), { created: 1 }],
  ['__proto__ beside the list', `{"__proto__":{"polluted":1},"data":${good}}`, { created: 1 }],
  [
    'names of JavaScript object properties',
    inRecord('"toString":1,"hasOwnProperty":2,"valueOf":3,"":4'),
    { created: 1 },
  ],
  ['the same name twice', inRecord('"branch":"First","branch":"Last"'), { created: 1 }],
  ['1e400', inRecord('"is_active":1e400'), { skipped: 1 }],
  ['1e400 in unused fields', inRecord('"x":1e400,"y":-1e400,"z":1e-400'), { created: 1 }],
  ['a code that is 1e400', '[{"user_code":1e400}]', { skipped: 1 }],
  ['lists of lists', '[[],[[]],[{}]]', { received: 3, skipped: 3 }],
  ['only empty objects', '[{},{},{}]', { received: 3, skipped: 3 }],
  [
    'escaped names and texts',
    '[{"user\\u005fcode":"HOSTILE\\u002d1","first_name":"\\u0041nn","last_name":"L"}]',
    { created: 1 },
  ],
  ['brackets and quotes inside texts', inRecord('"x":"]}\\"[{\\\\","y":"\\\\"'), { created: 1 }],
  ['a field nested 31 deep', inRecord(`"x":${'['.repeat(31)}${']'.repeat(31)}`), { created: 1 }],
  ['5,000 fields', inRecord(Array.from({ length: 5_000 }, (_, n) => `"f${n}":1`).join()), { created: 1 }],
  ['a name of 60,000 characters', inRecord(`"${'user_code'.repeat(6_000)}":"WRONG"`), { created: 1 }],
  ['SQL', inRecord(`"branch":"'; drop table customers; --"`), { created: 1 }],
  ['a formula', inRecord('"branch":"=cmd|A1"'), { created: 1 }],
  [
    'a customer of 20 MiB and a valid one',
    `[{"x":"${'x'.repeat(19 * MIB)}"},${good.slice(1)}`,
    { created: 1, skipped: 1 },
  ],
  [
    '100,000 records that are no customers',
    `[${Array(100_000).fill('{}').join()}]`,
    { received: 100_000, skipped: 100_000 },
  ],
  [
    '100,000 records with the same code',
    `[${Array(100_000).fill(JSON.stringify(GOOD)).join()}]`,
    { created: 1, skipped: 99_999 },
  ],
  ['exactly 20 MiB', filledToLimit(good.slice(0, -1), ' ', ']'), { created: 1 }],
];
