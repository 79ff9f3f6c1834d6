import { beforeEach, describe, expect, test } from '@jest/globals';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

const { api, db } = withService();

beforeEach(() => db.query("delete from customers where user_code like 'HEAD-%'"));

const upload = (file: string, dryRun = 'false') =>
  api.as('iex').uploadCustomers(multipart({ file: { file }, dry_run: dryRun }));

/** Returns the response of an upload, which a dry run must have announced. */
async function uploadAsChecked(file: string) {
  const checked = await upload(file, 'true').answer();
  const reply = await upload(file).answer();
  expect([reply.status, reply.body['errors']]).toEqual([checked.status, checked.body['errors']]);
  expect({ ...reply.data, dry_run: true }).toEqual(Object.assign({ dry_run: true }, checked.data));
  return reply;
}

async function storedOf(userCode: string) {
  const [customer] = await db.query(
    'select first_name, last_name, branch from customers where user_code = $1',
    [userCode],
  );
  return customer;
}

describe('a column with full names', () => {
  test.each([
    ['Código;Nombre completo;Email;Sucursal', 'HEAD-1;José María Peña;jose@b.example;Kingston', 'Kingston'],
    ['Account Number;Full Name;Phone;Branch', 'HEAD-1;José María Peña;876 555 0101;Kingston', 'Kingston'],
    ['user_code,name,email,status', 'HEAD-1,José María Peña,jose@b.example,active', null],
    ['user_code,email,Nombre y apellidos', 'HEAD-1,jose@b.example,José María Peña', null],
  ])('%s is split like that of a synchronisation', async (header, row, branch) => {
    await upload('user_code,first_name,last_name\nHEAD-1,Old,Surname\n').ok();
    const reply = await upload(`${header}\n${row}\n`).ok();
    expect(reply.data).toMatchObject({ updated: 1, warnings: [] });
    expect(await storedOf('HEAD-1')).toEqual({ first_name: 'José María', last_name: 'Peña', branch });
  });

  test('a full name of one word is refused, and nothing is stored', async () => {
    const file = 'user_code,name,email\nHEAD-1,Ann Lee,a@b.example\nHEAD-2,Cher,c@b.example\n';
    const { errors } = await upload(file).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ row: 3 }]);
    expect(JSON.stringify(errors)).toContain('first_name');
    expect(await storedOf('HEAD-1')).toBeUndefined();
  });

  test('first and last names in columns of their own count before it', async () => {
    await upload('user_code,name,first_name,last_name\nHEAD-1,Wrong Person,Ann,Lee\n').ok();
    expect(await storedOf('HEAD-1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
  });
});

describe('a row is complete with the columns that its header must have', () => {
  test.each([
    ['code,name', 'HEAD-1,Ann Lee', 'HEAD-2,Bob Roy Fox'],
    ['code;name', 'HEAD-1;Ann Lee', 'HEAD-2;Bob Roy Fox'],
    ['code,name,branch', 'HEAD-1,Ann Lee', 'HEAD-2,Bob Roy Fox,Kingston'],
    ['name,code,email', 'Ann Lee,HEAD-1', 'Bob Roy Fox,HEAD-2,b@b.example'],
    ['Nombre completo,Casillero', 'Ann Lee,HEAD-1', 'Bob Roy Fox,HEAD-2'],
    ['Customers in November\ncode,full name', 'HEAD-1,Ann Lee', 'HEAD-2,Bob Roy Fox'],
  ])('%s', async (header, ...rows) => {
    const { data } = await uploadAsChecked(`${header}\n${rows.join('\n')}\n`);
    expect(data).toMatchObject({ processed: 2, created: 2, skipped: 0 });
    expect(await storedOf('HEAD-1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee', branch: null });
    expect(await storedOf('HEAD-2')).toMatchObject({ first_name: 'Bob Roy', last_name: 'Fox' });
  });

  test('a row without the name is an error that names it', async () => {
    const { status, errors } = await uploadAsChecked('code,name\nHEAD-1,Ann Lee\nHEAD-2,\n');
    expect([status, errors]).toMatchObject([400, [{ row: 3 }, { row: 3 }]]);
  });

  test.each([
    ['code,name', ['HEAD-1,Ann Lee', 'HEAD-2', ' ,'], [3]],
    ['code,email,name', ['HEAD-1,a@b.example,Ann Lee', 'HEAD-2,b@b.example', ','], [3]],
    ['user_code,first_name,last_name', ['HEAD-1,Ann,Lee', 'HEAD-2,Bob', 'HEAD-3', ',,'], [3, 4]],
    ['Kunde,Vorname,Nachname', ['HEAD-1,Ann,Lee', 'HEAD-2,Bob Roy', ','], [3]],
  ])('%s: a shorter row is skipped, and named if it has content', async (header, rows, named) => {
    const { data } = await uploadAsChecked(`${header}\n${rows.join('\n')}\n`);
    expect(data).toMatchObject({ processed: 1, skipped: rows.length - 1 });
    const warning = data.warnings.find(({ code }) => code === 'rows_skipped');
    expect(warning).toMatchObject({ rows: named, message: expect.stringContaining('skipped') });
  });

  test('blank rows have no warning', async () => {
    const { data } = await uploadAsChecked('code,name\nHEAD-1,Ann Lee\n,\n  \n,,,\n');
    expect(data).toMatchObject({ processed: 1, skipped: 3, warnings: [] });
  });

  test('a list whose rows are all too short is refused with the number of cells', async () => {
    const { status, errors } = await uploadAsChecked('code,name\nHEAD-1\n');
    expect([status, errors[0]?.message]).toMatchObject([400, expect.stringContaining('at least 2 cells')]);
  });
});

describe('a column name beside one part of the names is the other part', () => {
  test.each([
    ['user_code,first_name,name', 'HEAD-1,Ann,Lee'],
    ['user_code,name,first_name,branch', 'HEAD-1,Lee,Ann,Kingston'],
    ['name;nombres;casillero', 'Lee;Ann;HEAD-1'],
    ['user_code,name,last_name', 'HEAD-1,Ann,Lee'],
    ['surname,name,code', 'Lee,Ann,HEAD-1'],
    ['user_code,first_name,name', 'HEAD-1,Ann,Ann Lee'],
    ['user_code,given,surname,name', 'HEAD-1,Wrong,Lee,Ann Lee'],
  ])('%s', async (header, row) => {
    const { data } = await uploadAsChecked(`${header}\n${row}\n`);
    expect(data).toMatchObject({ created: 1, warnings: [] });
    expect(await storedOf('HEAD-1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
  });

  test.each([
    ['user_code,first_name,full_name', 'HEAD-1,Ann,Ann Lee'],
    ['user_code,Nombre completo,Apellidos', 'HEAD-1,Ann Lee,Lee'],
  ])('%s: a column that says full is split', async (header, row) => {
    const { data } = await uploadAsChecked(`${header}\n${row}\n`);
    expect(data).toMatchObject({ created: 1, warnings: [] });
    expect(await storedOf('HEAD-1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
  });
});

test.each([
  ['Código;Email;Teléfono;Sucursal', 'first_name'],
  ['user_code,first_name,email,branch', 'last_name'],
  ['Código;Nombre;Correo;Sucursal', 'last_name'],
])('%s is refused, because a name is missing, and the message names it', async (header, column) => {
  const separator = header.includes(';') ? ';' : ',';
  const row = ['HEAD-1', 'a@b.example', 'x@b.example', 'K'].join(separator);
  const { errors } = await upload(`${header}\n${row}\n`).refused(400, 'validation_failed');
  expect(JSON.stringify(errors)).toContain(column);
  expect(await storedOf('HEAD-1')).toBeUndefined();
});

test('columns with unknown names are read by position, with a warning that names them', async () => {
  const reply = await upload('user_code,given,family,branch\nHEAD-1,Ann,Lee,Kingston\n').ok();
  expect(reply.data).toMatchObject({
    created: 1,
    warnings: [{ code: 'columns_in_order', message: expect.stringContaining('first_name, last_name') }],
  });
  expect(await storedOf('HEAD-1')).toEqual({ first_name: 'Ann', last_name: 'Lee', branch: 'Kingston' });
});

test('a file without a header says that its first row was not stored', async () => {
  const reply = await upload('HEAD-1,Ann,Lee\nHEAD-2,Bob,Lee\n').ok();
  const [warning] = reply.data.warnings;
  expect(warning).toMatchObject({ code: 'columns_in_order', rows: [1] });
  expect(warning?.message).toContain('Row 1 was taken for the header and not stored.');
});
