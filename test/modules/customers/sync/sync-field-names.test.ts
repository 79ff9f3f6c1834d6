import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withCustomerSync } from './synced-customers.js';

const { IEX } = DEMO.couriers;

const { rig, customersOf, customer } = withCustomerSync();

describe('accepted field names', () => {
  const BASE = { user_code: 'SP-1', first_name: 'Ann', last_name: 'Lee' };
  const without = (name: keyof typeof BASE) => {
    const { [name]: _, ...rest } = BASE;
    return rest;
  };

  const CODES =
    'user_code userCode UserCode usercode USER_CODE User-Code code Code customer_code customerCode account Account account_number accountNumber mailbox mailboxNumber';
  test.each(CODES.split(' ').concat('User Code', ' user code '))('reads the code from %s', async (name) => {
    expect(await rig.sync([{ ...without('user_code'), [name]: 'SP-1' }])).toMatchObject({
      created: 1,
      skipped: 0,
    });
    expect(await customer('SP-1')).toMatchObject(BASE);
  });

  test.each([
    ...['first_name', 'firstName', 'firstname', 'FirstName', 'FIRST-NAME', 'given_name', 'givenName'].map(
      (name) => ['first_name', name] as const,
    ),
    ...[
      'last_name',
      'lastName',
      'lastname',
      'LastName',
      'surname',
      'Surname',
      'family_name',
      'familyName',
    ].map((name) => ['last_name', name] as const),
  ])('reads %s from %s', async (field, name) => {
    await rig.sync([{ ...without(field), [name]: 'Spelt' }]);
    expect(await customer('SP-1')).toMatchObject({ ...BASE, [field]: 'Spelt' });
  });

  test.each(
    ['branch', 'Branch', 'location', 'pickup_location', 'pickupLocation', 'pickup', 'PickUp'].map((name) => [
      name,
    ]),
  )('reads the branch from %s', async (name) => {
    await rig.sync([{ ...BASE, [name]: 'Portmore' }]);
    expect(await customer('SP-1')).toMatchObject({ ...BASE, branch: 'Portmore' });
  });

  test.each(['email', 'Email', 'e_mail', 'E-Mail', 'emailAddress', 'email_address'])(
    'reads the email address from %s',
    async (name) => {
      await rig.sync([{ ...BASE, [name]: 'ann@example.com' }]);
      expect(await customer('SP-1')).toMatchObject({ ...BASE, email: 'ann@example.com' });
    },
  );

  test('reads the active flag from every field name with every value', async () => {
    const values = {
      true: [1, true, '1', 'true', 'TRUE', 'active', 'Active', 'enabled', 'yes', ' Yes '],
      false: [0, false, '0', 'false', 'inactive', 'Inactive', 'disabled', 'no', 'NO'],
    };
    const cases = ['is_active', 'isActive', 'active', 'status', 'Status'].flatMap((name) =>
      Object.entries(values).flatMap(([is, each]) =>
        each.map((value) => ({ name, value, is: is === 'true' })),
      ),
    );
    const records = cases.map(({ name, value }, n) => ({ ...BASE, user_code: `SP-${n + 1}`, [name]: value }));
    expect(await rig.sync(records)).toMatchObject({ created: cases.length, skipped: 0 });
    const stored = new Map((await customersOf(IEX)).map((row) => [row.user_code, row.is_active]));
    for (const [n, { name, value, is }] of cases.entries())
      expect([name, value, stored.get(`SP-${n + 1}`)]).toEqual([name, value, is]);
  });

  test.each([
    ['name', 'Ann Lee', 'Ann', 'Lee'],
    ['Name', 'Mary Jane  Watson', 'Mary Jane', 'Watson'],
    ['full_name', ' José María Núñez ', 'José María', 'Núñez'],
    ['fullName', 'Ann\u00a0Lee', 'Ann', 'Lee'],
  ])('splits a full name in %s: %s', async (name, whole, first_name, last_name) => {
    await rig.sync([{ user_code: 'SP-1', [name]: whole }]);
    expect(await customer('SP-1')).toMatchObject({ first_name, last_name });
  });

  test('uses the full name only for a missing first or last name', async () => {
    await rig.sync([
      { user_code: 'SP-1', first_name: 'Ann', name: 'Lee' },
      { user_code: 'SP-2', first_name: 'Ann', last_name: 'Lee', name: 'Other Person' },
      { user_code: 'SP-3', last_name: 'Lee', name: 'Mary Ann Lee' },
    ]);
    expect(await customer('SP-1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
    expect(await customer('SP-2')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
    expect(await customer('SP-3')).toMatchObject({ first_name: 'Mary Ann', last_name: 'Lee' });
  });

  test('rejects a full name of one word', async () => {
    const run = await rig.sync([{ user_code: 'SP-1', name: 'Cher' }]);
    expect(run).toMatchObject({ skipped: 1, problems: [{ field: 'first_name', code: 'blank' }] });
  });

  test('prefers the field name that is documented first, unless its value is null', async () => {
    await rig.sync([
      { code: 'WRONG', ...BASE, mailbox: 'WRONG', location: 'L', branch: 'B' },
      { ...BASE, user_code: null, mailbox: 'M', code: 'SP-2', branch: null, pickup: 'P' },
    ]);
    expect(await customer('SP-1')).toMatchObject({ branch: 'B' });
    expect(await customer('SP-2')).toMatchObject({ branch: 'P' });
    expect(await customer('WRONG')).toBeUndefined();
  });

  test.each(['data', 'customers', 'results', 'items', 'records', 'Customers', 'DATA'])(
    'accepts the list inside an object under %s',
    async (name) => {
      const before = await rig.sync({
        status: 'success',
        [name]: [BASE],
        meta: { total: 1, pages: {} },
        next: null,
      });
      expect(before).toMatchObject({ status: 'succeeded', created: 1 });
    },
  );
});

describe('the record of other warehouses', () => {
  const RECORD = {
    UserCode: 'SP-1',
    FirstName: 'Courtney',
    LastName: 'Patterson',
    Email: 'courtney@example.com',
    Phone: '+1 876 555 0100',
    Branch: 'Down Town',
    MailboxNumber: 'MB-77',
    Address: { street: '1 King Street', city: 'Kingston', state: '', zipCode: '', country: 'Jamaica' },
  };
  const STORED = {
    user_code: 'SP-1',
    first_name: 'Courtney',
    last_name: 'Patterson',
    email: 'courtney@example.com',
    branch: 'Down Town',
  };

  test.each<[string, object]>([
    ['a bare array', [RECORD]],
    ['an object with data', { data: [RECORD] }],
    ['an object with customers', { customers: [RECORD] }],
    ['an object with Customers', { Customers: [RECORD], Total: 1 }],
  ])('is accepted in %s', async (_title, sent) => {
    expect(await rig.sync(sent)).toMatchObject({ status: 'succeeded', created: 1, skipped: 0, problems: [] });
    expect(await customer('SP-1')).toMatchObject(STORED);
    expect(await customer('MB-77')).toBeUndefined();
  });

  test.each<[string, (name: string) => string]>([
    ['camelCase', (name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`],
    ['snake_case', (name) => name.replace(/(?!^)(?=[A-Z])/g, '_').toLowerCase()],
    ['upper case', (name) => name.toUpperCase()],
    ['lower case', (name) => name.toLowerCase()],
  ])('is accepted with names in %s', async (_title, spell) => {
    const record = Object.fromEntries(Object.entries(RECORD).map(([name, value]) => [spell(name), value]));
    expect(await rig.sync([record])).toMatchObject({ created: 1, skipped: 0, problems: [] });
    expect(await customer('SP-1')).toMatchObject(STORED);
  });

  test('needs only a code and the names, and MailboxNumber is the code if there is no UserCode', async () => {
    const { MailboxNumber, FirstName, LastName } = RECORD;
    const run = await rig.sync([{ MailboxNumber, FirstName, LastName, Address: null, Phone: null }]);
    expect(run).toMatchObject({ created: 1, skipped: 0 });
    expect(await customer('MB-77')).toMatchObject({ first_name: 'Courtney', email: null, branch: null });
  });
});
