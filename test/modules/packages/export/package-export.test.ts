import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { HEADINGS } from '../../../../src/modules/packages/export/export.js';
import { matching } from '../../../support/assertions/matching.js';
import { bundle, parametersOf } from '../../../support/service/contract.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { readWorkbook } from '../../../support/readers/workbook.js';
import { exportPackages, FORMATS, insertPackage, linesOf, type Format } from './export-calls.js';

const { IEX, HRB } = DEMO.couriers;
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const PLAIN = { csv: 'exportPackagesCsv', xlsx: 'exportPackagesXlsx' } as const;

const { api, db } = withService();

const exported = (as: string, format: Format, filters: object = {}) =>
  exportPackages(api, as, format, filters);

/** Returns the rows of an export, headings first. */
const rowsOf = async (...sent: Parameters<typeof exported>) => linesOf(await exported(...sent).ok(), sent[1]);

const listed = async (as: string, filters: object = {}) =>
  (await api.as(as).listPackages(unchecked(filters)).ok()).data;

describe.each(FORMATS)('package export as %s', (format) => {
  test('is the same file from the operation with one media type', async () => {
    const filters = { entryDateFloor: '2020-01-01', page: 2, limit: 20 };
    for (const as of ['admin', 'iex']) {
      const plain = await api.as(as).call(PLAIN[format], unchecked(filters)).ok();
      expect(linesOf(plain, format)).toEqual(await rowsOf(as, format, filters));
      expect(plain.headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="packages-\\d{8}-\\d{6}\\.${format}"$`),
      );
    }
    await api.anonymous.call(PLAIN[format]).refused(401, 'token_missing');
    const tooMany = api.as('iex').call(PLAIN[format], unchecked({ limit: 10_001 }));
    const { errors } = await tooMany.refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'limit' }]);
  });

  test("has the contract's columns and the rows of the list", async () => {
    const filters = { courierID: IEX, limit: 200 };
    const [heading, ...lines] = await rowsOf('admin', format, filters);
    expect(heading).toEqual([...HEADINGS]);
    const records = await listed('admin', filters);
    expect(records).toHaveLength(200);
    expect(lines).toEqual(
      records.map((record) =>
        [
          record.user_code,
          record.package_id,
          record.tracking_number,
          record.house_number,
          record.first_name,
          record.last_name,
          record.courier_name,
          'IEX',
          record.carrier_name,
          record.shipper,
          record.weight,
          record.status,
          record.manifest_number,
          record.entry_date_time,
        ].map((value) => String(value ?? '')),
      ),
    );
  });

  test('is an attachment of its media type with the UTC time in its name', async () => {
    const before = new Date();
    const { headers, bytes } = await exported('manager', format).ok();
    expect(headers.get('content-type')).toBe(format === 'csv' ? 'text/csv; charset=utf-8' : XLSX);
    const [, stamp] =
      /^attachment; filename="packages-(\d{8}-\d{6})\.\w+"$/.exec(headers.get('content-disposition') ?? '') ??
      [];
    const at = stamp?.replace(/(....)(..)(..)-(..)(..)(..)/, '$1-$2-$3T$4:$5:$6Z') ?? '';
    expect(Math.abs(new Date(at).getTime() - before.getTime())).toBeLessThan(30_000);
    expect(headers.get('content-disposition')).toMatch(new RegExp(`\\.${format}"$`));
    expect(headers.get('content-length')).toBe(String(bytes.length));
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('returns the first 25 rows by default and pages like the list', async () => {
    const idsOf = async (filters: object) =>
      (await rowsOf('admin', format, filters)).slice(1).map((line) => line[1]);
    const all = (await listed('admin', { limit: 10_000 })).map((record) => record.package_id);
    expect(await idsOf({})).toEqual(all.slice(0, 25));
    expect(await idsOf({ page: 3, limit: 40 })).toEqual(all.slice(80, 120));
    expect(await idsOf({ limit: 10_000 })).toEqual(all);
    expect(await idsOf({ page: 1_000_000, limit: 10_000 })).toEqual([]);
  });

  test("contains only the courier's own packages, with tracking numbers masked like in the list", async () => {
    const [, ...lines] = await rowsOf('iex', format, { limit: 10_000, courierID: HRB });
    const stored = await db.all('packages', { courier_id: IEX });
    const shown = new Map(lines.map((line) => [line[1], line[2]]));
    expect([...shown.keys()].sort()).toEqual(stored.map(({ id }) => id).sort());
    const hidden = stored.filter(({ user_code }) => user_code === null);
    expect(hidden.length).toBeGreaterThan(1);
    for (const { id, tracking_number } of hidden)
      expect(shown.get(id)).toBe(tracking_number.replace(/.(?=.{4})/g, '*'));
    expect(new Set(lines.map((line) => line[7]))).toEqual(new Set(['IEX']));
  });

  test('applies every filter of the list', async () => {
    const [record] = await listed('admin', { userCode: 'IEX-1001' });
    const filters = [
      { userCode: 'IEX-1001' },
      { houseNumber: record?.house_number },
      { shipper: 'a' },
      { courierID: HRB },
      { entryDateFloor: '2026-11-01', entryDateCeiling: '2026-11-10' },
      { firstName: 'an' },
      { trackingNumber: '9' },
    ];
    for (const filter of filters) {
      const [, ...lines] = await rowsOf('admin', format, { ...filter, limit: 10_000 });
      const records = await listed('admin', { ...filter, limit: 10_000 });
      expect(lines.map((line) => line[1])).toEqual(records.map((each) => each.package_id));
    }
  });

  test('takes several statuses and the order of the list in a query', async () => {
    const plain = (query: object) => api.as('admin').call(PLAIN[format], unchecked(query));
    const order = { sort_by: 'weight', sort_dir: 'ASC' };
    for (const status of [['shipped'], ['delivered', 'on_hold', 'shipped']]) {
      const [, ...lines] = linesOf(
        await plain({ status: status.join(','), limit: 10_000, ...order }).ok(),
        format,
      );
      const records = await listed('admin', { status, limit: 10_000, ...order });
      expect(records.length).toBeGreaterThan(0);
      expect(lines.map((line) => line[1])).toEqual(records.map((record) => record.package_id));
    }
    for (const status of ['shipped, lost', 'shipped,', 'gone', 'shipped,gone', 'SHIPPED']) {
      const { errors } = await plain({ status }).refused(400, 'validation_failed');
      expect(errors).toMatchObject([
        { field: 'status', message: 'status must be a status of packages, or several separated by commas.' },
      ]);
    }
  });

  test('keeps text that looks like a number as text', async () => {
    const numbers = ['00123', '9400111899223100001234', '1E5', '3-4', '2026-11-21', 'TRUE', '0x1F'];
    for (const tracking_number of numbers) {
      const key = `${format} ${tracking_number}`;
      const shipper = `Digits ${format}`;
      await insertPackage(db, { tracking_number, tracking_key: key, shipper, weight_lb: 4.25 });
    }
    const reply = await exported('admin', format, { shipper: `Digits ${format}` }).ok();
    expect(
      linesOf(reply, format)
        .slice(1)
        .map((line) => line[2])
        .sort(),
    ).toEqual([...numbers].sort());
    if (format === 'csv') return;
    for (const row of readWorkbook(reply.bytes).slice(1)) {
      expect(row.map((cell) => cell?.type ?? 'none').filter((type) => type !== 'none')).toEqual(
        row.flatMap((cell, index) => (cell ? [index === 10 ? 'number' : 'text'] : [])),
      );
      expect(row[10]).toEqual({ type: 'number', value: '4.25' });
    }
  });

  test('keeps commas, quotes, line breaks, emoji and control characters', async () => {
    const texts = [
      'a,b',
      'say "x"',
      'two\nlines',
      'two\r\nlines',
      'tab\there',
      ' spaced ',
      'Ünï 📦',
      'a;b|c',
      '"',
    ];
    texts.push('bell\u0007', '_x0041_', '<b>&amp;', ']]>', 'nbsp\u00a0', 'bom\ufeff', '\u202eabc');
    for (const first_name of texts) await insertPackage(db, { first_name, shipper: `Awkward ${format}` });
    const [, ...lines] = await rowsOf('admin', format, { shipper: `Awkward ${format}` });
    // A program whose list separator is the semicolon begins a cell after it, here with the quote that ends this one.
    const kept = texts.map((text) => (format === 'csv' && text.endsWith(';') ? `${text}'` : text));
    expect(lines.map((line) => line[4]).sort()).toEqual(kept.sort());
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([14]));
  });
});

test("a CSV file begins with its first column's name and ends every line with CRLF", async () => {
  const { bytes } = await exported('admin', 'csv').ok();
  expect(bytes.toString('latin1', 0, 10)).toBe('User Code,');
  expect(bytes.toString().split('\r\n')).toHaveLength(27);
  expect(bytes.toString().replaceAll('\r\n', '')).not.toMatch(matching(/[\r\n]/, '\r', '\n'));
});

test('the contract allows exactly the statuses of packages in a query', () => {
  const [parameter] = parametersOf('exportPackagesCsv', 'query').filter(({ name }) => name === 'status');
  const statuses = bundle.components.schemas['PackageStatus']?.['enum'] as string[];
  const one = `(?:${statuses.join('|')})`;
  expect(parameter?.schema['pattern']).toBe(`^${one}(?:,${one}){0,${statuses.length - 1}}$`);
});

test('CSV is the default format', async () => {
  const reply = await api.as('admin').listPackages({ export: true }).ok();
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
});

test('without export or with false, the response is JSON without a file name', async () => {
  for (const body of [{}, { export: false }, { export: false, export_format: 'xlsx' }]) {
    const reply = await api.as('admin').listPackages(unchecked(body)).ok();
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect(reply.headers.get('content-disposition')).toBeNull();
  }
});

test.each([
  [{ export: 'true' }, 'export'],
  [{ export: 1 }, 'export'],
  [{ export: true, export_format: 'pdf' }, 'export_format'],
  [{ export: true, export_format: 'CSV' }, 'export_format'],
  [{ export: true, limit: 10_001 }, 'limit'],
  [{ export: true, action: 'queue_dispatch' }, 'export'],
])('rejects %j with 400 and names the field', async (body, field) => {
  const { errors } = await api.as('admin').listPackages(unchecked(body)).refused(400, 'validation_failed');
  expect(errors).toMatchObject([{ field }]);
});

test('denies exports to anonymous callers and disabled accounts', async () => {
  const body = { export: true };
  await api.anonymous.listPackages(body).refused(401, 'token_missing');
  await api.as('disabled').listPackages(body).refused(403, 'account_disabled');
});
