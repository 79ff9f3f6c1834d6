// The focus is never lost: the field that waits for keys gets it back when a dialog closes, a button disappears or somebody clicks
// on the page.

/** Returns the field that takes the keys if no other field has the focus: the weight of a parcel that waits, or the page's number. */
export function fieldForKeys(): HTMLInputElement | undefined {
  if (document.querySelector('dialog[open]')) return undefined;
  return document.querySelector<HTMLInputElement>('[data-takes-keys] input:not([disabled])') ?? undefined;
}

/** Watches the page. Returns a function that stops it. */
export function keepFocus(): () => void {
  let isQueued = false;
  const look = () => {
    if (isQueued) return;
    isQueued = true;
    // After the browser has moved the focus, and the page has rendered.
    queueMicrotask(() => {
      isQueued = false;
      if (isLost()) (inOpenDialog() ?? fieldForKeys() ?? lastUsed())?.focus();
    });
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, subtree: true });
  const onClick = ({ target }: MouseEvent) => {
    // Text that was selected to be copied stays selected.
    if (target instanceof Element && !target.closest(TAKES_CLICKS) && getSelection()?.isCollapsed !== false)
      fieldForKeys()?.focus();
  };
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || target === document.body) return;
    const dialog = target.closest('dialog');
    if (dialog) usedIn.set(dialog, target);
    else used = target;
  };
  document.addEventListener('click', onClick);
  document.addEventListener('focusin', onFocus);
  return () => {
    observer.disconnect();
    document.removeEventListener('click', onClick);
    document.removeEventListener('focusin', onFocus);
  };
}

const TAKES_CLICKS = 'a, button, input, select, textarea, label, summary, dialog';

/** What had the focus before a dialog opened. */
let used: HTMLElement | undefined;

const lastUsed = () => (used?.isConnected ? used : undefined);

/** What had the focus in a dialog before another one opened in front of it, for example the login. */
const usedIn = new WeakMap<HTMLDialogElement, HTMLElement>();

function inOpenDialog(): HTMLElement | undefined {
  const dialog = [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')].at(-1);
  const element = dialog && usedIn.get(dialog);
  return element?.isConnected ? element : undefined;
}

const isLost = () => document.activeElement === null || document.activeElement === document.body;
