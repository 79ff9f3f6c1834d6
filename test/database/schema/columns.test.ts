import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { columnOf, columns } from '../../../src/platform/db/columns.js';
import { fieldsOf } from '../../../src/platform/db/models/model-scope.js';

const schema = readFileSync(join(projectRoot, 'prisma/schema.prisma'), 'utf8');

/** The models of schema.prisma, with the columns of their scalar fields. */
const models = [...schema.matchAll(/^model (\w+) \{\n([\s\S]*?)\n\}/gm)].map(([, model = '', body = '']) => {
  const scalars = [...fieldsOf(model)].map((field) => {
    const line = new RegExp(`^  ${field} .*`, 'm').exec(body)?.[0] ?? '';
    return [field, /@map\("(\w+)"\)/.exec(line)?.[1] ?? field] as const;
  });
  return { model, scalars };
});

describe('the columns of a model', () => {
  test('are named by one rule, in every model', () => {
    expect(models.length).toBeGreaterThan(40);
    const wrong = models.flatMap(({ model, scalars }) =>
      scalars
        .filter(([field, column]) => columnOf(field) !== column)
        .map(([field, column]) => `${model}.${field} is ${column}`),
    );
    expect(wrong).toEqual([]);
  });

  test('are listed under the names of the fields, or under given names', () => {
    expect(columns('Customer', 'cu', ['id', 'userCode']).sql).toBe('cu.id, cu.user_code as "userCode"');
    expect(columns('Courier', 'c', { courierName: 'name', phoneNumber1: 'phoneNumber1' }).sql).toBe(
      'c.name as "courierName", c.phone_number1 as "phoneNumber1"',
    );
  });

  test('are refused for a field that the model does not have', () => {
    // columns.type-test.ts shows that the compiler refuses them first.
    const unknown = (name: string) => name as 'firstName';
    expect(() => columns('Customer', 'cu', [unknown('nickname')])).toThrow('Customer has no field nickname.');
    expect(() => columns('Customer', 'cu', { courierName: unknown('courier') })).toThrow(
      'Customer has no field',
    );
  });
});
