import { isLocked } from '../../session/session.js';

/** Calls back for Ctrl-K, unless a dialog is open. Returns a function that stops it. */
export function listenForPalette(open: () => void): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k' || isLocked.value) return;
    event.preventDefault();
    if (!document.querySelector('dialog[open]')) open();
  };
  window.addEventListener('keydown', onKey);
  return () => window.removeEventListener('keydown', onKey);
}
