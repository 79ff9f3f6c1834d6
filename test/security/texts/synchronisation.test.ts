import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { around, HOSTILE_CHARACTERS, hostileRows, VERY_LONG } from '../../support/attacks/hostile-texts.js';
import { startSyncRig, type SyncRig } from '../../support/builders/customer-sync.js';
import { withService } from '../../support/fixture/with-service.js';

// No text of a courier's own system makes a synchronisation fail, and none is stored with characters that it must not have.

// Before the service stops: hooks run in the order in which they are written.
afterAll(async () => {
  await rig.stop();
  expect(await hostileRows(service().owner)).toEqual([]);
}, 60_000);

const { service } = withService();
let rig: SyncRig;

beforeAll(async () => {
  rig = await startSyncRig(service());
}, 60_000);

const RECORD = {
  user_code: 'SYNC-0',
  first_name: 'Anna',
  last_name: 'Lee',
  name: 'Anna Lee',
  branch: 'Kingston',
  email: 'anna@example.com',
  is_active: 'active',
};

type Field = keyof typeof RECORD;
// Object.keys() returns the keys of the record.
const FIELDS = Object.keys(RECORD) as Field[];

const withField = (field: Field, value: unknown, index: number) => ({
  ...RECORD,
  user_code: `SYNC-${field}-${index}`,
  [field]: value,
});

/** The run of one good record beside the hostile ones stores the good one. */
async function synchronise(records: object[]): Promise<void> {
  const good = { ...RECORD, user_code: 'SYNC-GOOD' };
  const run = await rig.sync([...records, good]);
  expect(run).toMatchObject({ status: 'succeeded', http_status: 200, received: records.length + 1 });
}

test.each(FIELDS)('the field %s takes no hostile text', async (field) => {
  const marks = HOSTILE_CHARACTERS.flatMap(([, mark]) => around(RECORD[field], mark));
  await synchronise([...marks, VERY_LONG].map((value, index) => withField(field, value, index)));
});

test.each(FIELDS)(
  'a damaged value of %s that is cut inside a character does not stop the run',
  async (field) => {
    // A problem shows 40 UTF-16 units of the value: the last is half of the character.
    await synchronise([withField(field, `="${'1'.repeat(37)}😀"`, 0)]);
  },
);

test('names of fields with hostile characters are ignored', async () => {
  const names = HOSTILE_CHARACTERS.flatMap(([, mark]) => around('first_name', mark));
  await synchronise(names.map((name, index) => ({ ...withField('branch', 'B', index), [name]: 'x' })));
});

test('a response in bytes that are no UTF-8 is refused', async () => {
  for (const hex of ['eda080', 'c080', 'ff']) {
    const [before = '', after = ''] = JSON.stringify([{ ...RECORD, branch: 'MARK' }]).split('MARK');
    const run = await rig.sync(
      Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)]),
    );
    expect(run).toMatchObject({
      status: 'failed',
      error: 'The response is not in UTF-8. Encode it in UTF-8.',
    });
  }
});
