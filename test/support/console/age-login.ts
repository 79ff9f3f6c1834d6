import type { Page } from 'playwright-core';
import { agedToken } from '../sign-in/aged-token.js';

/** Makes the login of a page 16 minutes old. */
export async function ageLogin(page: Page): Promise<void> {
  const context = page.context();
  const cookies = await context.cookies();
  await context.addCookies(cookies.map((cookie) => ({ ...cookie, value: agedToken(cookie.value, 16) })));
}
