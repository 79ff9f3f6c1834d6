import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { harmless } from '../../../../src/platform/files/csv-cells.js';
import { withService } from '../../../support/fixture/with-service.js';
import { exportPackages, FORMATS, insertPackage, linesOf } from './export-calls.js';

const { api, db } = withService();

describe('formula injection', () => {
  const ATTACKS = ['1+1', 'cmd|" /C calc"!A0', 'HYPERLINK("http://x.example","Click")', 'SUM(A1:A9)'];
  const PAYLOADS = [
    ...['=', '+', '-', '@'].flatMap((sign) => ATTACKS.map((attack) => sign + attack)),
    ...['\t', '\r', '\n', '\r\n', ' ', '   ', '\u00a0', '\u3000', '\u200b', '\ufeff'].flatMap((space) =>
      ['=', '+', '-', '@'].map((sign) => `${space}${sign}1+1`),
    ),
    ...['＝', '＋', '－', '＠'].map((sign) => `${sign}1+1`),
    '\tx',
    '\rx',
    '\nx',
    "=1+1'",
    '"=1+1"'.slice(1),
    '+44 20 7946 0000',
    '-5',
    '@import',
    '=',
    '-',
  ];

  test('covers at least 60 formula payloads', () => {
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(PAYLOADS).size).toBe(PAYLOADS.length);
  });

  /** An independent check: after white space and invisible characters, no cell may start a formula. */
  function isHarmless(cell: string): boolean {
    const first = [...cell].find((character) => {
      const code = character.codePointAt(0) ?? 0;
      const isInvisible = code <= 0x20 || [0xa0, 0x3000, 0x200b, 0xfeff].includes(code);
      return !isInvisible;
    });
    return !'=+-@＝＋－＠'.includes(first ?? 'none') && !/^[\t\r\n\0]/.test(cell);
  }

  beforeAll(async () => {
    // Drop the constraints that would keep most payloads out of some columns.
    await db.query(`alter table manifests drop constraint number_is_well_formed;
      alter table packages drop constraint status_is_known, drop constraint tracking_number_is_trimmed;
      drop index carriers_one_of_a_name`);
    for (const [index, payload] of PAYLOADS.entries()) {
      const made = { courier: randomUUID(), carrier: randomUUID(), manifest: randomUUID() };
      const tenant = DEMO.tenants.demo;
      await db.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $3)', [
        tenant,
        made.courier,
        payload,
      ]);
      await db.query('insert into carriers (tenant_id, id, name) values ($1, $2, $3)', [
        tenant,
        made.carrier,
        payload,
      ]);
      await db.query(
        'insert into manifests (tenant_id, id, manifest_number, warehouse_id) values ($1, $2, $3, $4)',
        [tenant, made.manifest, payload, DEMO.warehouses.primary],
      );
      await insertPackage(db, {
        user_code: payload,
        first_name: payload,
        last_name: payload,
        shipper: payload,
        status: payload,
        tracking_number: payload,
        tracking_key: `attack-${index}`,
        house_number: payload,
        courier_id: made.courier,
        carrier_id: made.carrier,
        manifest_id: made.manifest,
        weight_lb: 7.5,
        received_at: '2022-02-02T00:00:00Z',
      });
    }
  }, 60_000);

  test.each(FORMATS)(
    'no cell of a %s starts a formula, and the stored text stays readable',
    async (format) => {
      const days = { entryDateFloor: '2022-02-02', entryDateCeiling: '2022-02-02' };
      const reply = await exportPackages(api, 'admin', format, { limit: 10_000, ...days }).ok();
      const [, ...lines] = linesOf(reply, format);
      expect(lines).toHaveLength(PAYLOADS.length);
      const found = new Set<string>();
      for (const line of lines) {
        expect(line).toHaveLength(14);
        expect(line.filter((cell) => !isHarmless(cell))).toEqual([]);
        expect(line[10]).toBe('7.5');
        const escaped = line[0]?.slice(1) ?? '';
        // Every column except the id, the weight and the date.
        for (const index of [0, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12]) expect(line[index]).toBe(`'${escaped}`);
        // A program with another separator begins a cell behind a tab or a line break.
        found.add(escaped.replace(/(?<=[\t\r\n])'/g, ''));
      }
      expect(found).toEqual(new Set(PAYLOADS));
    },
  );

  test('text without a formula is unchanged', () => {
    for (const text of [
      '',
      'x',
      'a=b',
      '5-6',
      'x@y.example',
      '1Z999AA10123456784',
      '*****1234',
      "'=1",
      '…',
      '(=)',
    ])
      expect(harmless(text)).toBe(text);
  });

  test('detects formulas behind a NUL, which the database cannot store', () => {
    expect(harmless('\0=1')).toBe("'\0=1");
    expect(harmless('\0x')).toBe("'\0x");
  });
});
