import { expect, test } from '@jest/globals';
import { withService } from '../../support/fixture/with-service.js';

// A trigram index of a column also finds equal values, and slowly: it reads all values that share a part. Before the first vacuum of a table,
// PostgreSQL takes it for cheaper than the index that is meant for that.

const { db } = withService();

/** Columns that no statement compares with an equal value. */
const ALONE = ['packages.first_name', 'packages.last_name', 'packages.shipper', 'packages.tracking_number'];

test('columns with a trigram index of their own are those that no statement looks up', async () => {
  const columns = await db.query<{ name: string }>(
    `select c.relname || '.' || a.attname as name
     from pg_index i
     join pg_class c on c.oid = i.indrelid
     cross join lateral unnest(i.indkey, i.indclass) as part (attnum, opclass)
     join pg_opclass o on o.oid = part.opclass and o.opcname = 'gin_trgm_ops'
     join pg_attribute a on a.attrelid = c.oid and a.attnum = part.attnum and part.attnum > 0
     order by 1`,
  );
  expect(columns.map(({ name }) => name)).toEqual(ALONE);
});
