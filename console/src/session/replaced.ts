// A page that was left open while the service was upgraded. Its files have hashes in their names, and the service has only the new ones.

const RELOADED = 'crossdock-reloaded';

/** Returns whether the service now has a page with other files. Without an answer, nothing is known, so false. */
export async function isReplaced(): Promise<boolean> {
  const own = document.querySelector('script[type=module][src]')?.getAttribute('src');
  try {
    const response = await fetch('/console', { cache: 'no-store' });
    // The page of the login of a network, or of a proxy, counts as no answer.
    if (!response.ok || response.redirected || !own) return false;
    const page = await response.text();
    return page.includes('/console/assets/') && !page.includes(own);
  } catch {
    return false;
  }
}

/**
 * Loads the page again. The session and the parcel on the scale are in the storage of the tab, and the queue in the database of the device,
 * so nothing is lost. Returns false if the page has done so before and still has no part, as in the middle of an upgrade.
 */
export function reloadOnce(): boolean {
  if (sessionStorage.getItem(RELOADED) !== null) return false;
  sessionStorage.setItem(RELOADED, 'yes');
  location.reload();
  return true;
}

/** The next upgrade may load the page again. */
export const forgetReload = (): void => sessionStorage.removeItem(RELOADED);
