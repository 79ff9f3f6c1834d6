import type { Page } from 'playwright-core';

/** Keeps the answers of an operation back until the returned function is called. `path` may have a query. */
export async function holdBack(page: Page, path: string): Promise<() => void> {
  let release = (): void => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  await page.route(`**/${path}`, async (route) => {
    await isReleased;
    await route.continue();
  });
  return release;
}
