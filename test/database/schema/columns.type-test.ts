import { columns } from '../../../src/platform/db/columns.js';

// Checked by `npm run types`: a renamed field breaks every statement that lists it.

columns('Customer', 'cu', ['firstName']);

// @ts-expect-error Customer has no such field.
columns('Customer', 'cu', ['nickname']);

// @ts-expect-error A relation is not a column.
columns('Customer', 'cu', { courierName: 'courier' });
