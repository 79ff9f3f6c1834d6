import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withCustomerSync } from './synced-customers.js';

const { IEX } = DEMO.couriers;

const { rig, customersOf, customer } = withCustomerSync();

describe('invalid records', () => {
  const BASE = { user_code: 'BAD-1', first_name: 'Ann', last_name: 'Lee' };
  const long = 'x'.repeat(101);
  type Case = [title: string, record: unknown, problems: [field: string | null, code: string][]];
  const CASES: Case[] = [
    ['null', null, [[null, 'type']]],
    ['a number', 7, [[null, 'type']]],
    ['a text', 'BAD-1', [[null, 'type']]],
    ['a list', [BASE], [[null, 'type']]],
    ['an empty object', {}, [['user_code', 'required']]],
    ['no code', { ...BASE, user_code: undefined }, [['user_code', 'required']]],
    ['a null code', { ...BASE, user_code: null }, [['user_code', 'required']]],
    ['a blank code', { ...BASE, user_code: ' \t' }, [['user_code', 'blank']]],
    ['a code that is a fraction', { ...BASE, user_code: 17.5 }, [['user_code', 'type']]],
    ['a code that is a negative number', { ...BASE, user_code: -17 }, [['user_code', 'type']]],
    ['a code that is too large a number', { ...BASE, user_code: 2 ** 53 }, [['user_code', 'type']]],
    ['a code that is a boolean', { ...BASE, user_code: true }, [['user_code', 'type']]],
    ['a code that is a list', { ...BASE, user_code: ['BAD-1'] }, [['user_code', 'type']]],
    ['a code that is an object', { ...BASE, user_code: { a: 1 } }, [['user_code', 'type']]],
    ['a code that is too long', { ...BASE, user_code: long }, [['user_code', 'maxLength']]],
    ['a code of 101 emoji', { ...BASE, user_code: '😀'.repeat(101) }, [['user_code', 'maxLength']]],
    ['NUL', { ...BASE, first_name: 'A\0B' }, [['first_name', 'pattern']]],
    ['a line break', { ...BASE, last_name: 'A\nB' }, [['last_name', 'pattern']]],
    ['control characters that separate rows', { ...BASE, branch: 'A\x1eB\x1f\x1d' }, [['branch', 'pattern']]],
    ['a lone surrogate', { ...BASE, first_name: 'A\ud800' }, [['first_name', 'encoding']]],
    ['a name that is too long', { ...BASE, last_name: long }, [['last_name', 'maxLength']]],
    ['a name that is a boolean', { ...BASE, first_name: true }, [['first_name', 'type']]],
    ['a new customer without names', { user_code: 'BAD-1' }, [['first_name', 'required']]],
    ['a new customer with one name', { ...BASE, last_name: undefined }, [['last_name', 'required']]],
    ['a branch that is too long', { ...BASE, branch: long }, [['branch', 'maxLength']]],
    ['a branch that is an object', { ...BASE, branch: { name: 'K' } }, [['branch', 'type']]],
    ['an invalid email address', { ...BASE, email: 'nobody' }, [['email', 'pattern']]],
    [
      'an email address that is too long',
      { ...BASE, email: `${'x'.repeat(243)}@example.com` },
      [['email', 'maxLength']],
    ],
    ['a flag that is another number', { ...BASE, is_active: 2 }, [['is_active', 'enum']]],
    ['a flag that is another word', { ...BASE, status: 'gold' }, [['is_active', 'enum']]],
    ['a flag that is a list', { ...BASE, active: [1] }, [['is_active', 'enum']]],
    [
      'a whole name that is a number',
      { user_code: 'BAD-1', name: 5 },
      [
        ['first_name', 'type'],
        ['last_name', 'type'],
      ],
    ],
    [
      'several invalid fields',
      { ...BASE, first_name: '', branch: 1 },
      [
        ['first_name', 'blank'],
        ['branch', 'type'],
      ],
    ],
    ['a record of more than 64 KiB', { ...BASE, notes: 'x'.repeat(65_536) }, [[null, 'maxLength']]],
  ];

  test.each(CASES)('reports %s and stores the other records', async (_title, record, problems) => {
    const good = { user_code: 'GOOD', first_name: 'G', last_name: 'D' };
    const before = await customersOf(IEX);
    const run = await rig.sync([record, good]);
    expect(run).toMatchObject({ status: 'succeeded', received: 2, created: 1, unchanged: 0, skipped: 1 });
    expect(
      run['problems'].map(({ index, field, code }: Record<string, unknown>) => [index, field, code]),
    ).toEqual(problems.map(([field, code]) => [0, field, code]));
    expect((await customersOf(IEX)).filter(({ user_code }) => user_code !== 'GOOD')).toEqual(before);
  });

  test('a code that is a whole number is read as its digits, and finds its customer again', async () => {
    const records = [{ ...BASE, user_code: 91_700_017 }];
    expect(await rig.sync(records)).toMatchObject({ created: 1, skipped: 0, problems: [] });
    expect(await customer('91700017')).toMatchObject({ first_name: 'Ann' });
    expect(await rig.sync(records)).toMatchObject({ status: 'succeeded', created: 0, unchanged: 1 });
  });

  test('a run whose records were all skipped has failed, with its counts and problems', async () => {
    const before = await customersOf(IEX);
    const run = await rig.sync([{ ...BASE, user_code: '' }, { user_code: 'BAD-2' }]);
    expect(run).toMatchObject({
      status: 'failed',
      error: 'None of the 2 records could be stored. Correct what problems lists, then synchronise again.',
      received: 2,
      created: 0,
      updated: 0,
      unchanged: 0,
      skipped: 2,
      problems: [
        { index: 0, code: 'blank' },
        { index: 1, code: 'required' },
      ],
    });
    expect(await customersOf(IEX)).toEqual(before);
    expect(await rig.sync([])).toMatchObject({ status: 'succeeded', received: 0, error: null });
  });

  test('accepts values at their maximum length', async () => {
    const [text, email] = ['😀'.repeat(100), `${'x'.repeat(242)}@example.com`];
    const record = { user_code: text, first_name: text, last_name: text, branch: text, email };
    expect(await rig.sync([record])).toMatchObject({ created: 1, skipped: 0 });
    expect(await customer(text)).toMatchObject(record);
  });

  test('reports the first hundred in order and counts all', async () => {
    const records = Array.from({ length: 250 }, (_, n) =>
      n % 2
        ? { user_code: `BAD-${n}` }
        : { user_code: `BAD-${n}`, first_name: 'A', last_name: 'B', branch: 1 },
    );
    const run = await rig.sync(records);
    expect(run).toMatchObject({ received: 250, skipped: 250, created: 0 });
    expect(run['problems'].map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 100 }, (_, n) => n),
    );
  });
});
