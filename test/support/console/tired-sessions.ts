import { untilLastKey } from './browser.js';
import type { Hands } from './tired-hands.js';

export type Account = { username: string; password: string };

/** The service ends the session. The next call asks for the password over the page. */
export const endSession = ({ page }: Hands): Promise<unknown> =>
  page.evaluate(`fetch('/api/Sessions.php', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-crossdock-user': JSON.parse(sessionStorage.getItem('crossdock-session')).user.id,
    },
    body: '{"action":"logout"}',
  }).then(({ status }) => status)`);

/** Logs in again if the page asks for it. Returns whether it did. */
export async function logInAgain(hands: Hands, { password }: Account): Promise<boolean> {
  const { page, press, type } = hands;
  const dialog = page.getByRole('dialog', { name: 'Log in again' });
  const field = dialog.locator('input[type=password]');
  if ((await field.count()) === 0) return false;
  // Keys that were meant for the page may stand in it.
  await field.click();
  await press('Control+a');
  await press('Delete');
  await type(password, 'Enter');
  await dialog.waitFor({ state: 'detached' }).catch(async (error: unknown) => {
    const shown = (await dialog.allTextContents()).join(' | ');
    throw new Error(`The dialog stays: ${shown}. The field has ${(await field.inputValue()).length} keys`, {
      cause: error,
    });
  });
  return true;
}

/** Opens the account's dialog and logs out. Returns false if the login came in front of it. */
export async function clickLogOut(hands: Hands): Promise<boolean> {
  const { page, press } = hands;
  await untilLastKey(page);
  try {
    await page.getByRole('button', { name: /Account/ }).click({ timeout: 3_000 });
    await page.getByRole('button', { name: 'Log out', exact: true }).click({ timeout: 3_000 });
    return true;
  } catch {
    await press('Escape');
    return false;
  }
}

/** Logs in on the page for it. */
export async function logInFresh(hands: Hands, { username, password }: Account): Promise<void> {
  const { page, press, type } = hands;
  await page.getByLabel('User name').click();
  await press('Control+a');
  await type(username, 'Tab');
  await type(password, 'Enter');
  await page.locator('.workplace').waitFor();
}
