import { expect, test } from '@jest/globals';
import { inlineRows, workbookOf } from '../../../support/workbooks/workbook-of.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

const { api } = withService(() => ({ workbooks: { taskMs: 1 } }));

test.each(['uploadCustomers', 'uploadPrealerts'] as const)(
  '%s refuses a workbook that takes too long, and says what to save instead',
  async (operation) => {
    const rows = Array.from({ length: 5_000 }, (_, n) => [`W-${n}`, 'Ann', 'Lee']);
    const file = workbookOf({ sheets: [{ data: inlineRows(rows) }] });
    const upload = api.as('iex')[operation];
    const reply = await upload(multipart({ file: { file } })).answer();
    expect([reply.status, reply.errors.map(({ field, code }) => [field, code])]).toEqual([
      400,
      [['file', 'maxLength']],
    ]);
    expect(reply.errors[0]?.message).toMatch(/too much time or memory.*as CSV UTF-8/);
  },
);
