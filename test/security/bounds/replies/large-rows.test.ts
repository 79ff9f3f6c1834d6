import { expect, test } from '@jest/globals';
import { jsonRows, serializeReply } from '../../../../src/platform/contract/json-text.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';

/** The log of 500 webhooks with eight attempts each, whose receivers answered with characters that JSON escapes. */
const ROWS = Array.from({ length: 500 }, (_, id) => ({
  id,
  attempts: Array.from({ length: 8 }, (_each, number) => ({ number, answer: '\u0001'.repeat(1_024) })),
}));

const textOf = async (rows: unknown[], view: (row: unknown) => unknown): Promise<string> => {
  const reply = serializeReply({ status: 'success', data: await jsonRows(rows, view) });
  return Array.isArray(reply) ? Buffer.concat(reply).toString() : reply;
};

test('a page of large rows is serialized in pieces', async () => {
  let text = '';
  const heldMs = await longestBlockMs(async () => {
    const reply = serializeReply({ data: await jsonRows(ROWS, (row) => row) });
    text = Array.isArray(reply) ? Buffer.concat(reply.slice(0, 3)).toString().slice(0, 9) : reply;
  });
  expect(text).toBe('{"data":[');
  // 12 ms. In one piece, 25 MB take 60 ms.
  expect(heldMs).toBeLessThan(40);
});

test.each([0, 1, 24, 25, 26, 275, 276, 1_000])(
  '%i rows have the same text as JSON.stringify',
  async (count) => {
    const rows = Array.from({ length: count }, (_, n) => ({ n, text: 'x'.repeat((n * 7_919) % 5_000) }));
    const view = (row: unknown) => ({ ...(row as object), seen: true });
    expect(await textOf(rows, view)).toBe(JSON.stringify({ status: 'success', data: rows.map(view) }));
  },
);
