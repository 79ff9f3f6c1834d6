import { randomBytes } from 'node:crypto';
import { assemble, BOUNDARY, MULTIPART_TYPE, type Part } from '../service/forms.js';

/** A body as it is sent, with its Content-Type. */
export type Mutant = { kind: string; type: string; body: Buffer };

/** Returns the same numbers for the same seed, so that a failure can be reproduced. */
export function makeDice(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, pick: <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item };
}

type Dice = ReturnType<typeof makeDice>;

const FILE: Part = {
  headers: ['Content-Disposition: form-data; name="file"; filename="c.csv"', 'Content-Type: text/csv'],
  content: 'user_code,first_name,last_name\nMUT-1,a,b\nMUT-2,c,d\n',
};
const field = (name: string, value: string): Part => ({
  headers: [`Content-Disposition: form-data; name="${name}"`],
  content: value,
});
const WHOLE = [FILE, field('dry_run', 'true'), field('target_courier_id', 'x')];

const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'file[]',
  'file\u0000',
  '',
  ' ',
  'é',
  '\ud83d\ude00',
  'x'.repeat(5_000),
];
const ODD_HEADERS = [
  'Content-Disposition: form-data',
  'Content-Disposition: attachment; name="file"',
  'Content-Disposition: form-data; name=file; filename=',
  'Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'%ff%fe',
  'Content-Disposition: form-data; name="file"; filename="../../../etc/passwd"',
  'Content-Disposition',
  ': form-data; name="x"',
  'Content-Type: multipart/mixed; boundary=inner',
  'Content-Type: text/plain; charset=utf-16',
  'Content-Type: text/plain; charset=no-such-charset',
  'Content-Type: application/json',
  'Content-Transfer-Encoding: base64',
  'Content-Transfer-Encoding: quoted-printable',
  `X-Long: ${'y'.repeat(20_000)}`,
  'X-Odd: \u0000\u0001',
  ' folded',
];
const ODD_TYPES = [
  'multipart/form-data',
  'multipart/form-data;',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=""',
  'multipart/form-data; boundary=other',
  `multipart/form-data; boundary=${'b'.repeat(300)}`,
  `multipart/form-data; boundary="${BOUNDARY}"`,
  `MULTIPART/Form-Data; Boundary=${BOUNDARY}`,
  `multipart/form-data; boundary=${BOUNDARY}; boundary=other`,
  `multipart/form-data; charset=utf-16; boundary=${BOUNDARY}`,
  `multipart/mixed; boundary=${BOUNDARY}`,
  `multipart/form-data, text/plain; boundary=${BOUNDARY}`,
  `multipart/form-data; boundary=${BOUNDARY}\t`,
];

const asParts = (parts: Part[], type = MULTIPART_TYPE) => ({ type, body: assemble(parts) });
const asBytes = (body: Buffer) => ({ type: MULTIPART_TYPE, body });

const KINDS: Record<string, (dice: Dice) => Omit<Mutant, 'kind'>> = {
  whole: () => asParts(WHOLE),
  truncated(dice) {
    const body = assemble(WHOLE);
    return asBytes(body.subarray(0, dice.below(body.length)));
  },
  'beginning missing'(dice) {
    const body = assemble(WHOLE);
    return asBytes(body.subarray(dice.below(body.length)));
  },
  'bytes changed'(dice) {
    const body = assemble(WHOLE);
    for (let n = dice.below(12) + 1; n > 0; n -= 1) body[dice.below(body.length)] = dice.below(256);
    return asBytes(body);
  },
  'bytes inserted'(dice) {
    const body = assemble(WHOLE);
    const at = dice.below(body.length);
    const odd = dice.pick([
      '\r\n',
      '\n',
      '\r',
      '\0',
      '--',
      `--${BOUNDARY}`,
      `\r\n--${BOUNDARY}--\r\n`,
      '\u00ff\u00fe',
      '"',
      ';',
    ]);
    return asBytes(Buffer.concat([body.subarray(0, at), Buffer.from(odd, 'latin1'), body.subarray(at)]));
  },
  'line ends changed': (dice) =>
    asBytes(
      Buffer.from(
        assemble(WHOLE)
          .toString('latin1')
          .replaceAll('\r\n', dice.pick(['\n', '\r', '\n\r', '\r\r\n', ''])),
        'latin1',
      ),
    ),
  'boundary or type': (dice) => asParts(WHOLE, dice.pick(ODD_TYPES)),
  'part headers'(dice) {
    const parts = structuredClone(WHOLE);
    const { headers } = dice.pick(parts);
    const odd = dice.pick(ODD_HEADERS);
    if (dice.below(2)) headers.splice(0, headers.length, odd);
    else headers.push(odd);
    return asParts(parts);
  },
  'headers missing'(dice) {
    const parts = structuredClone(WHOLE);
    dice.pick(parts).headers = [];
    return asParts(parts);
  },
  'thousands of headers': () =>
    asParts([
      { ...FILE, headers: [...FILE.headers, ...Array.from({ length: 3_000 }, (_, n) => `X-${n}: ${n}`)] },
    ]),
  'parts repeated'(dice) {
    const parts = [...WHOLE, dice.pick(WHOLE)];
    return asParts(parts.sort(() => dice.below(3) - 1));
  },
  'parts missing': (dice) => asParts(WHOLE.filter(() => dice.below(2) === 0)),
  'too many parts': (dice) =>
    asParts([...WHOLE, ...Array.from({ length: 30 + dice.below(100) }, (_, n) => field(`f${n}`, 'x'))]),
  'twelve files': () =>
    asParts(
      Array.from({ length: 12 }, (_, n) => ({
        headers: [`Content-Disposition: form-data; name="f${n}"; filename="x"`],
        content: 'x',
      })),
    ),
  'odd names': (dice) =>
    asParts([
      ...WHOLE,
      field(dice.pick(ODD_NAMES), 'x'),
      { ...FILE, headers: [`Content-Disposition: form-data; name="${dice.pick(ODD_NAMES)}"; filename="x"`] },
    ]),
  'a field as a file': (dice) =>
    asParts([
      FILE,
      {
        headers: [
          `Content-Disposition: form-data; name="${dice.pick(['dry_run', 'target_courier_id'])}"; filename="x"`,
        ],
        content: 'true',
      },
    ]),
  'a file as a field': () => asParts([field('file', String(FILE.content))]),
  'odd values': (dice) =>
    asParts([
      FILE,
      {
        ...field(dice.pick(['dry_run', 'target_courier_id', 'other']), ''),
        content: dice.pick(['\0', '\ud800', 'x'.repeat(20_000), 'TRUE', '{"a":1}', '']),
      },
      { ...field('bytes', ''), content: randomBytes(20) },
    ]),
  nested() {
    const inner = assemble(WHOLE).toString('latin1').replaceAll(BOUNDARY, 'inner');
    return asParts([
      {
        headers: [
          'Content-Disposition: form-data; name="file"; filename="c.csv"',
          'Content-Type: multipart/mixed; boundary=inner',
        ],
        content: inner,
      },
    ]);
  },
  'odd files': (dice) =>
    asParts([
      {
        ...FILE,
        content: dice.pick([
          Buffer.alloc(0),
          randomBytes(2_000),
          Buffer.alloc(5_000),
          Buffer.from(`h\n"${'x'.repeat(300)}`),
        ]),
      },
    ]),
  'a preamble and an epilogue': () =>
    asBytes(Buffer.concat([Buffer.from('before\r\n'), assemble(WHOLE), Buffer.from('after\r\n'.repeat(50))])),
  noise: (dice) => asBytes(randomBytes(dice.below(3_000))),
};

/** Returns `count` bodies, cycling through all kinds. */
export function makeMutants(count: number, seed: number): Mutant[] {
  const dice = makeDice(seed);
  const kinds = Object.entries(KINDS);
  return Array.from({ length: count }, (_, n) => {
    const [kind, make] = kinds[n % kinds.length] as (typeof kinds)[number];
    return { kind, ...make(dice) };
  });
}
