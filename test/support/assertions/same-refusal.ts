import { expect } from '@jest/globals';
import type { Refusal } from '../fixture/pending-call.js';

type Refusable = { refused(status: number, code: string): Promise<Refusal> };

/** Asserts that calls are refused identically except for request id and time, so that a caller cannot tell them apart. */
export async function expectSameRefusal(
  status: number,
  code: string,
  calls: [Refusable, Refusable, ...Refusable[]],
): Promise<void> {
  const texts: string[] = [];
  for (const call of calls) {
    const { body } = await call.refused(status, code);
    texts.push(JSON.stringify({ ...body, request_id: '', timestamp: 0 }));
  }
  expect(new Set(texts).size).toBe(1);
}
