import { expect } from '@jest/globals';

/** Asserts that a scenario that started before the tests ends without a failure. A scenario that never started fails too. */
export async function expectSuccess(scenario: Promise<unknown> | undefined): Promise<void> {
  expect(scenario).toBeInstanceOf(Promise);
  await scenario;
}
