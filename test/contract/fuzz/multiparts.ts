import fc from 'fast-check';
import { spoil } from './mutations.js';
import type { FuzzRequest } from './requests.js';

/** One way to damage a multipart body or what its header says of it. */
export type Damage =
  | { of: 'bytes'; how: 'cut' | 'insert' | 'double'; at: number; bytes: string }
  | { of: 'text'; find: string; put: string; isEvery: boolean }
  | { of: 'header'; value: string };

const nat = fc.nat({ max: 1_000 });

const TEXTS: [find: string, put: string][] = [
  ['\r\n', '\n'],
  ['\r\n\r\n', '\r\n'],
  ['\r\n\r\n', ''],
  ['--\r\n', '\r\n'],
  ['--\r\n', ''],
  ['--\r\n', '--\r\nepilogue --'],
  ['------crossdock', '-----crossdock'],
  ['------crossdock', '------CROSSDOCK'],
  ['------crossdock', 'preamble\r\n------crossdock'],
  ['------crossdock', ' ------crossdock'],
  ['Content-Disposition: ', 'Content-Disposition '],
  ['Content-Disposition: form-data', 'Content-Disposition: attachment'],
  ['Content-Disposition: form-data', 'X-Disposition: form-data'],
  ['Content-Disposition: form-data', `X-Long: ${'x'.repeat(20_000)}\r\nContent-Disposition: form-data`],
  ['Content-Disposition: form-data', 'X-Nul: \0\r\nContent-Disposition: form-data'],
  ['; name="', '; name='],
  ['; name="', '; noname="'],
  ['; name="', '; name="__proto__"; name="'],
  ['; name="', "; name*=utf-8''%ff; name=\""],
  ['name="', 'name="constructor'],
  ['filename="', "filename*=utf-8''%00; x=\""],
  ['filename="', 'filename="../../'],
  ['filename="', 'nofile="'],
  ['Content-Type: ', 'Content-Type: multipart/mixed; boundary=x, '],
  ['Content-Type: ', 'Content-Transfer-Encoding: base64\r\nContent-Type: '],
  ['\r\n\r\n', '\r\nContent-Length: 99999999\r\n\r\n'],
];

const HEADERS = [
  ...['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=""'],
  ...['multipart/form-data; boundary=other', `multipart/form-data; boundary=${'b'.repeat(2_000)}`],
  ...[
    'multipart/form-data; boundary=a; boundary=b',
    'multipart/form-data;boundary',
    'multipart/mixed; boundary=x',
  ],
  ...['multipart/form-data; boundary="----crossdock7f3a91', 'multipart/form-data; boundary=\u00ff'],
  ...[
    'multipart/form-data; charset=latin1; boundary=----crossdock7f3a91',
    'Multipart/Form-Data;boundary=----crossdock7f3a91',
  ],
];

export const DAMAGE: fc.Arbitrary<Damage> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      of: fc.constant('bytes' as const),
      how: fc.constantFrom('cut' as const, 'insert' as const, 'double' as const),
      at: nat,
      bytes: fc.constantFrom(
        '00',
        'ff',
        '0d',
        '0a',
        '0d0a',
        '2d2d',
        '0d0a0d0a',
        '22',
        '2d'.repeat(200),
        'c328',
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...TEXTS), fc.boolean())
      .map(([[find, put], isEvery]) => ({ of: 'text' as const, find, put, isEvery })),
  },
  { weight: 1, arbitrary: fc.constantFrom(...HEADERS).map((value) => ({ of: 'header' as const, value })) },
);

export function damage(request: FuzzRequest, damages: Damage[]): FuzzRequest {
  return damages.reduce((damaged, each) => damageOnce(damaged, each), request);
}

function damageOnce(request: FuzzRequest, each: Damage): FuzzRequest {
  const { body = Buffer.alloc(0) } = request;
  switch (each.of) {
    case 'bytes':
      return { ...request, body: spoil(body, each) };
    case 'text': {
      // latin1 keeps every byte
      const text = body.toString('latin1');
      const changed = each.isEvery ? text.replaceAll(each.find, each.put) : text.replace(each.find, each.put);
      return { ...request, body: Buffer.from(changed, 'latin1') };
    }
    case 'header':
      return { ...request, headers: [['content-type', each.value]] };
  }
}
