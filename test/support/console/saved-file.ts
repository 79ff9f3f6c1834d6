import type { Page } from 'playwright-core';

export type SavedFile = { name: string; bytes: Buffer };

/** Returns the file that a click saves. */
export async function savedFile(page: Page, click: () => Promise<void>): Promise<SavedFile> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}
