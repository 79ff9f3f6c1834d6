import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PDFiumLibrary } from '@hyzyla/pdfium';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { ready as zplReady } from 'zpl-renderer-js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { clone } from '../../support/builders/couriers.js';
import { rounds } from '../../support/harness/effort.js';
import { matching } from '../../support/assertions/matching.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const require = createRequire(import.meta.url);

const { api, service } = withService();
beforeAll(async () => {
  pdfium = await PDFiumLibrary.init();
  const wasm = readFileSync(require.resolve('zxing-wasm/reader/zxing_reader.wasm'));
  prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer } });
}, 60_000);
afterAll(async () => {
  pdfium.destroy();
});
let pdfium: Awaited<ReturnType<typeof PDFiumLibrary.init>>;

type RenderedLabel = { text: string; codes: string[]; lines: string[] };

const labelOf = (package_id: string, format?: string) =>
  api.as('warehouse').getPackageLabel(unchecked({ package_id, ...(format ? { format } : {}) }));

/** Creates a package of IEX-1001 and returns its id and its house number. */
async function newPackage(changes: object = {}): Promise<{ id: string; house: string }> {
  const body = { tracking_number: `LBL${process.pid}N${(serial += 1)}`, weight: 3.25, user_code: 'IEX-1001' };
  const { data } = await api.as('warehouse').receivePackage(body).created();
  const [id, house] = [data.package_id, data.house_number];
  const columns = Object.entries(changes);
  if (columns.length > 0)
    await service().owner.query(
      `update packages set ${columns.map(([name], index) => `${name} = $${index + 2}`).join(', ')} where id = $1`,
      [id, ...columns.map(([, value]: [string, unknown]) => value)],
    );
  return { id, house };
}
let serial = 0;

/** Renders a PDF page at 216 dots per inch and returns its text and barcodes. */
async function readPdf(bytes: Buffer): Promise<RenderedLabel & { pages: number; inches: number[] }> {
  const document = await pdfium.loadDocument(new Uint8Array(bytes));
  const page = document.getPage(0);
  const { originalWidth, originalHeight } = page.getOriginalSize();
  // The text must be extracted before rendering; pdfium fails in the other order.
  const text = page.getText();
  const { data, width, height } = await page.render({ scale: 3, render: 'bitmap' });
  const pages = document.getPageCount();
  document.destroy();
  const found = await readBarcodes({ data: new Uint8ClampedArray(data), width, height, colorSpace: 'srgb' });
  return {
    pages,
    inches: [originalWidth / 72, originalHeight / 72],
    text,
    lines: text.split('\r\n'),
    codes: found.map((code) => `${code.format} ${code.text}`),
  };
}

/** Renders a label as a label printer would and returns its barcodes. */
async function readZpl(zpl: string): Promise<string[]> {
  const { api } = await zplReady;
  const png = await api.zplToBase64Async(zpl, 101.6, 152.4, 8);
  const found = await readBarcodes(new Uint8Array(Buffer.from(png, 'base64')));
  return found.map((code) => `${code.format} ${code.text}`);
}

/** Returns the commands of a label in order, without the field data. */
const commandsOf = (zpl: string) =>
  zpl
    .replace(/\^FD[^^]*/g, '^FD')
    .split('\n')
    .flatMap((line) => line.match(/[\^~][A-Z][A-Z0-9@]/g) ?? []);

/** Returns the field data of a label, decoded as the printer decodes it. */
const fieldsOf = (zpl: string) =>
  [...zpl.matchAll(/\^FH_\^FD([^^]*)\^FS/g)].map(([, data = '']) =>
    data.replace(/_([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
  );

describe('package label', () => {
  test('is one page of 4 x 6 inches with the owner, and its only barcode is the house number', async () => {
    const { id, house } = await newPackage({ manifest_id: DEMO.manifests.draft });
    const { rows } = await service().owner.query<Record<string, string>>(
      `select p.tracking_number, p.first_name || ' ' || p.last_name as name, m.manifest_number
       from packages p join manifests m on m.id = p.manifest_id where p.id = $1`,
      [id],
    );
    const { tracking_number: tracking = '', name = '', manifest_number: manifest = '' } = rows[0] ?? {};
    const reply = await labelOf(id).ok();
    expect(reply.headers.get('content-type')).toBe('application/pdf');
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="label-${house}.pdf"`);
    const shown = await readPdf(reply.bytes);
    expect(shown).toMatchObject({ pages: 1, inches: [4, 6], codes: [`Code128 ${house}`] });
    const expectedTexts = [
      'IEX',
      'Island Express',
      'IEX-1001',
      name,
      house,
      '3.25 lb (1.47 kg)',
      'Miami Gateway',
    ];
    for (const each of [...expectedTexts, tracking, manifest]) expect(shown.text).toContain(each);

    const zpl = await labelOf(id, 'zpl').answer();
    expect(zpl.headers.get('content-type')).toBe('application/zpl');
    expect(zpl.headers.get('content-disposition')).toBe(`attachment; filename="label-${house}.zpl"`);
    const text = zpl.bytes.toString();
    expect(fieldsOf(text)).toEqual(expect.arrayContaining([...expectedTexts, tracking, manifest]));
    expect(await readZpl(text)).toEqual([`Code128 ${house}`]);
  });

  test('shows UNKNOWN OWNER or UNKNOWN CUSTOMER if the package has none', async () => {
    const nobody = { courier_id: null, user_code: null, first_name: null, last_name: null };
    const owner = await newPackage(nobody);
    expect((await readPdf((await labelOf(owner.id).answer()).bytes)).lines[0]).toBe('UNKNOWN OWNER');
    const zpl = (await labelOf(owner.id, 'zpl').answer()).bytes.toString();
    expect(fieldsOf(zpl)[0]).toBe('UNKNOWN OWNER');
    expect(await readZpl(zpl)).toEqual([`Code128 ${owner.house}`]);

    const customer = await newPackage({ user_code: null, first_name: null, last_name: null });
    const shown = await readPdf((await labelOf(customer.id).answer()).bytes);
    expect(shown.lines.slice(0, 3)).toEqual(['IEX', 'Island Express', 'UNKNOWN CUSTOMER']);
    expect(fieldsOf((await labelOf(customer.id, 'zpl').answer()).bytes.toString())).toContain(
      'UNKNOWN CUSTOMER',
    );
  });

  test('prints names in Latin, Greek and Cyrillic', async () => {
    const { id } = await newPackage({ first_name: 'Zoë Ñandú', last_name: 'Łukasz Ωmega Жуков' });
    const name = 'Zoë Ñandú Łukasz Ωmega Жуков';
    expect((await readPdf((await labelOf(id).answer()).bytes)).lines).toContain(name);
    expect(fieldsOf((await labelOf(id, 'zpl').answer()).bytes.toString())).toContain(name);
  });

  test("prints a band in the courier's colour with readable text", async () => {
    for (const [color, ink] of [
      ['#FFE000', '#000000'],
      ['#0A1D5C', '#FFFFFF'],
    ]) {
      await service().owner.query('update couriers set house_color = $2 where id = $1', [
        DEMO.couriers.IEX,
        color,
      ]);
      const { id } = await newPackage();
      const document = await pdfium.loadDocument(new Uint8Array((await labelOf(id).answer()).bytes));
      const { data, width } = await document.getPage(0).render({ scale: 2, render: 'bitmap' });
      document.destroy();
      // Four bytes per pixel, red first.
      const colorAt = (pixel: number) =>
        `#${[0, 1, 2].map((each) => (data[pixel * 4 + each] ?? 0).toString(16).padStart(2, '0')).join('')}`.toUpperCase();
      expect(colorAt(4 * width + 4)).toBe(color);
      const band = Array.from({ length: 100 * width }, (_, index) => colorAt(10 * width + index));
      expect(band).toContain(ink);
    }
  });
});

const HOSTILE: Record<string, string> = {
  'a whole label': '^XA^FO0,0^FDhello^FS^XZ',
  'printer commands': '~JA~HS~DGR:X.GRF,1,1,FF',
  'an end of field in hexadecimal': '_5EFS_5EXZ\\5E\\&_',
  'line breaks and control characters': 'a\r\nb\tc\u0007d\u001be\u2028f',
  'reversed text direction': '\u202Eevil\u202C \u200Fx',
  emoji: '😀👩‍👩‍👧‍👦🏴‍☠️',
  'characters missing from the font': '\u{10FFFF}\u{E000}漢字',
  '100 wide letters': 'W'.repeat(100),
};

/**
 * The texts that could move or widen something. Rendering a label as a printer takes most of the time; for the others,
 * `npm run test:long` does it.
 */
const RENDERED = ['a whole label', 'line breaks and control characters', '100 wide letters'];

describe('hostile text on a label', () => {
  let expected: string[];
  beforeAll(async () => {
    const { id } = await newPackage();
    expected = commandsOf((await labelOf(id, 'zpl').answer()).bytes.toString());
    expect(expected.length).toBeGreaterThan(40);
  });

  test.each(Object.entries(HOSTILE))(
    '%s changes no printer command and hides no barcode',
    async (name, text) => {
      const fields = { user_code: text, first_name: text, last_name: text, tracking_number: text.trim() };
      const hostile = await newPackage({ ...fields, tracking_number: `${serial}${text}`.trim() });
      const zpl = (await labelOf(hostile.id, 'zpl').answer()).bytes.toString();
      expect(commandsOf(zpl)).toEqual(expected);
      // The fields contain no text that a printer could take for a command, and no control character.
      expect(zpl.replace(/\^FD[^^~\\]*\^FS/g, '')).not.toMatch(matching(/\^FD/, zpl));
      expect(zpl.replaceAll('\n', '')).not.toMatch(matching(/\p{Cc}|\p{Cf}/u, '\0', '\u200b'));
      if (RENDERED.includes(name) || rounds(0, 1) === 1)
        expect(await readZpl(zpl)).toEqual([`Code128 ${hostile.house}`]);
      const shown = await readPdf((await labelOf(hostile.id).answer()).bytes);
      expect(shown).toMatchObject({ pages: 1, codes: [`Code128 ${hostile.house}`] });
    },
  );

  test('shortens a number of 255 characters in the middle', async () => {
    const number = `HEAD${'5'.repeat(247)}TAIL`;
    const { id } = await newPackage({ tracking_number: number });
    const line = (await readPdf((await labelOf(id).answer()).bytes)).lines.find((each) =>
      each.includes('HEAD'),
    );
    expect(line).toMatch(/^Tracking HEAD5+…5+TAIL$/);
    const fields = fieldsOf((await labelOf(id, 'zpl').answer()).bytes.toString());
    expect(fields.find((each) => each.startsWith('HEAD'))).toMatch(/^HEAD5+\.\.\.5+TAIL$/);
  });
});

test('prints the name of another warehouse and of another courier', async () => {
  const [id = ''] = DEMO.packages.available.HRB;
  const number = `LBL${process.pid}-HRB`;
  const copy = await clone(service().owner, 'packages', id, {
    tracking_number: number,
    tracking_key: number,
    house_number: 'X9X9X9X',
    warehouse_id: DEMO.warehouses.second,
  });
  const { rows } = await service().owner.query<{ name: string }>(
    'select name from warehouses where id = $1',
    [DEMO.warehouses.second],
  );
  const shown = await readPdf((await labelOf(copy).answer()).bytes);
  expect(shown.codes).toEqual(['Code128 X9X9X9X']);
  for (const each of ['HRB', 'Harbour Couriers', rows[0]?.name ?? '-', number])
    expect(shown.text).toContain(each);
});
