import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startService, type Service } from '../../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

beforeEach(async () => {
  await service.owner.query("delete from customers where user_code like 'HEAD-%'");
});

const upload = (file: string) => service.call('uploadCustomers', { as: 'iex', form: { file: { file } } });

async function storedOf(userCode: string) {
  const { rows } = await service.owner.query(
    'select first_name, last_name, branch from customers where user_code = $1',
    [userCode],
  );
  return rows[0];
}

describe('a column with full names', () => {
  test.each([
    ['Código;Nombre completo;Email;Sucursal', 'HEAD-1;José María Peña;jose@b.example;Kingston', 'Kingston'],
    ['Account Number;Full Name;Phone;Branch', 'HEAD-1;José María Peña;876 555 0101;Kingston', 'Kingston'],
    ['user_code,name,email,status', 'HEAD-1,José María Peña,jose@b.example,active', null],
    ['user_code,email,Nombre y apellidos', 'HEAD-1,jose@b.example,José María Peña', null],
  ])('%s is split like that of a synchronisation', async (header, row, branch) => {
    await upload('user_code,first_name,last_name\nHEAD-1,Old,Surname\n');
    const reply = await upload(`${header}\n${row}\n`);
    expect(reply.body['data']).toMatchObject({ updated: 1, warnings: [] });
    expect(await storedOf('HEAD-1')).toEqual({ first_name: 'José María', last_name: 'Peña', branch });
  });

  test('a full name of one word is refused, and nothing is stored', async () => {
    const reply = await upload('user_code,name,email\nHEAD-1,Ann Lee,a@b.example\nHEAD-2,Cher,c@b.example\n');
    expect([reply.status, reply.body['errors']]).toMatchObject([400, [{ row: 3 }]]);
    expect(JSON.stringify(reply.body['errors'])).toContain('first_name');
    expect(await storedOf('HEAD-1')).toBeUndefined();
  });

  test('first and last names in columns of their own count before it', async () => {
    await upload('user_code,name,first_name,last_name\nHEAD-1,Wrong Person,Ann,Lee\n');
    expect(await storedOf('HEAD-1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
  });
});

test.each([
  ['Código;Email;Teléfono;Sucursal', 'first_name'],
  ['user_code,first_name,email,branch', 'last_name'],
  ['Código;Nombre;Correo;Sucursal', 'last_name'],
])('%s is refused, because a name is missing, and the message names it', async (header, column) => {
  const separator = header.includes(';') ? ';' : ',';
  const reply = await upload(`${header}\n${['HEAD-1', 'a@b.example', 'x@b.example', 'K'].join(separator)}\n`);
  expect([reply.status, reply.body['code']]).toEqual([400, 'validation_failed']);
  expect(JSON.stringify(reply.body['errors'])).toContain(column);
  expect(await storedOf('HEAD-1')).toBeUndefined();
});

test('columns with unknown names are read by position, with a warning that names them', async () => {
  const reply = await upload('user_code,given,family,branch\nHEAD-1,Ann,Lee,Kingston\n');
  expect(reply.body['data']).toMatchObject({
    created: 1,
    warnings: [{ code: 'columns_in_order', message: expect.stringContaining('first_name, last_name') }],
  });
  expect(await storedOf('HEAD-1')).toEqual({ first_name: 'Ann', last_name: 'Lee', branch: 'Kingston' });
});

test('a file without a header says that its first row was not stored', async () => {
  const reply = await upload('HEAD-1,Ann,Lee\nHEAD-2,Bob,Lee\n');
  const [warning] = reply.body['data'].warnings;
  expect(warning).toMatchObject({ code: 'columns_in_order', rows: [1] });
  expect(warning.message).toContain('Row 1 was taken for the header and not stored.');
});
